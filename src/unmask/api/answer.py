"""From a finished generation to the answer, and from a `ModelInfo` to an entry of the model list."""

from dataclasses import dataclass

from unmask.backend import Generation, ModelInfo, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerLabel:
    """What an answer says of itself beside its text."""

    id: str
    created: int
    model: ModelInfo


def completion(label: AnswerLabel, generation: Generation) -> dict[str, object]:
    """Write a chat completion object."""
    assert generation.finish_reason is not None, "a completed generation says why it ends"
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": generation.text, "refusal": None},
        "logprobs": None,
        "finish_reason": generation.finish_reason.value,
    }
    return {
        "id": label.id,
        "object": "chat.completion",
        "created": label.created,
        "model": label.model.name,
        "system_fingerprint": label.model.digest,
        "choices": [choice],
        "usage": usage(generation.usage),
    }


def usage(spent: Usage) -> dict[str, object]:
    """Write what a request cost; tokens in the words of the OpenAI API, steps below ``diffusion``."""
    return {
        "prompt_tokens": spent.prompt_tokens,
        "completion_tokens": spent.completion_tokens,
        "total_tokens": spent.prompt_tokens + spent.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": spent.cached_tokens},
        "diffusion": {
            "steps_allocated": spent.steps_allocated,
            "steps_used": spent.steps_used,
            "canvases": spent.canvases,
            "tokens_per_step": round(spent.tokens_per_step, 4),
            "exit_reason": spent.exit_reason.value,
        },
    }


def model_entry(model: ModelInfo, created: int) -> dict[str, object]:
    """Write an entry of the model list with what a client may ask of the model."""
    return {
        "id": model.name,
        "object": "model",
        "created": created,
        "owned_by": "unmask",
        "digest": model.digest,
        "parameters": model.parameters,
        "context_length": model.context_length,
        "canvas_length": model.default_canvas_length,
        "canvas_lengths": list(model.canvas_lengths),
        "max_steps": model.max_steps,
        "default_steps": model.default_steps,
        "default_max_tokens": model.default_max_tokens,
        "tasks": list(model.tasks),
    }
