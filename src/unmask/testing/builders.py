"""Values with every field filled in, of which a test names only what it is about."""

from typing import Any

from unmask.backend import Generation, ModelInfo, Timing, Usage
from unmask.types import ExitReason, FinishReason, Outcome, Precision


def make_model(name: str = "tiny", **changes: Any) -> ModelInfo:  # noqa: ANN401 - any field of the model
    """Return a small model's description."""
    fields: dict[str, Any] = {
        "digest": "0123456789abcdef",
        "parameters": 2_000_000,
        "precision": Precision.FLOAT32,
        "context_length": 256,
        "canvas_lengths": (8, 16, 32),
        "default_canvas_length": 16,
        "max_steps": 32,
        "default_steps": 16,
        "default_max_tokens": 64,
        "tasks": ("arithmetic", "sort"),
        "is_deterministic": True,
    }
    return ModelInfo(name=name, **(fields | changes))


def make_usage(**changes: Any) -> Usage:  # noqa: ANN401 - any field of the usage
    """Return the usage of a short answer in one canvas."""
    fields: dict[str, Any] = {
        "prompt_tokens": 7,
        "completion_tokens": 6,
        "cached_tokens": 0,
        "prefill_tokens": 7,
        "commit_tokens": 0,
        "steps_allocated": 16,
        "steps_used": 4,
        "canvases": 1,
        "exit_reason": ExitReason.CONVERGED,
    }
    return Usage(**(fields | changes))


def make_generation(text: str = "42", **changes: Any) -> Generation:  # noqa: ANN401 - any field of the generation
    """Return a generation that completed."""
    fields: dict[str, Any] = {
        "outcome": Outcome.COMPLETED,
        "finish_reason": FinishReason.STOP,
        "tokens": (),
        "usage": make_usage(),
        "timing": Timing(arrived=0.0, started=0.0, finished=0.0),
    }
    return Generation(text=text, **(fields | changes))
