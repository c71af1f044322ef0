"""Bodies that work as they are, for the OpenAPI document."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from pydantic import JsonValue


class Example(NamedTuple):
    """A body, and what it shows."""

    summary: str
    body: Mapping[str, JsonValue]


def _chat(content: str, **fields: JsonValue) -> Mapping[str, JsonValue]:
    return {"model": "tiny", "messages": [{"role": "user", "content": content}], **fields}


CHAT_EXAMPLES: Mapping[str, Example] = MappingProxyType(
    {
        "budget": Example(
            "At most eight denoise steps a canvas", _chat("add 12 + 30", max_tokens=32, diffusion={"max_steps": 8})
        ),
        "effort": Example("The budget in a word", _chat("sort 5 , 3 , 9", reasoning_effort="low")),
        "streaming": Example(
            "The answer as events, the last of them its cost",
            _chat("add 12 + 30", stream=True, stream_options={"include_usage": True}),
        ),
        "snapshots": Example(
            "The draft after every step", _chat("add 12 + 30", stream=True, diffusion={"stream": "snapshots"})
        ),
        "json_schema": Example(
            "An answer that is verified against a JSON Schema",
            _chat(
                "add 12 + 30",
                response_format={
                    "type": "json_schema",
                    "json_schema": {"name": "sum", "schema": {"type": "integer", "minimum": 0}},
                },
            ),
        ),
        "verify": Example(
            "An answer that is held to the items of the question, in ascending order",
            _chat(
                "sort 5 , 3 , 9",
                diffusion={
                    "task": "sort",
                    "verify": [{"kind": "constraint", "same_items": ["3", "5", "9"], "order": "ascending"}],
                },
            ),
        ),
        "choices": Example(
            "Three answers, the same three every time", _chat("add 12 + 30", n=3, seed=7, temperature=1.0)
        ),
        "logprobs": Example(
            "How likely each token was at the step that fixed it, and what else might have stood there",
            _chat("add 12 + 30", logprobs=True, top_logprobs=3),
        ),
    }
)

COMPLETION_EXAMPLES: Mapping[str, Example] = MappingProxyType(
    {
        "budget": Example(
            "At most eight denoise steps a canvas",
            {"model": "tiny", "prompt": "add 12 + 30", "max_tokens": 32, "diffusion": {"max_steps": 8}},
        ),
        "prompts": Example(
            "Two prompts, two answers of each",
            {"model": "tiny", "prompt": ["add 12 + 30", "add 1 + 1"], "n": 2, "seed": 7, "temperature": 1.0},
        ),
        "streaming": Example(
            "The prompt and its answer as events",
            {"model": "tiny", "prompt": "add 12 + 30", "echo": True, "stream": True},
        ),
        "vllm": Example(
            "The budget as clients of vLLM send it",
            {"model": "tiny", "prompt": "add 12 + 30", "vllm_xargs": {"diffusion_max_steps": 8}},
        ),
    }
)
