"""Fields of the OpenAI API, and planned ones of this one, that are not supported yet.

Each is refused by name, save at the value that asks for nothing, which clients
send as a matter of course. ``null`` always asks for nothing. Nothing is ignored:
a field that changes the answer elsewhere is honoured here or refused.
"""

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from unmask.api.errors import UnsupportedFieldError
from unmask.api.shown import AsJson

Neutral = tuple[object, ...]

BODY: Mapping[str, Neutral] = MappingProxyType(
    {
        "audio": (),
        "frequency_penalty": (0,),
        "function_call": ("none", "auto"),
        "functions": ([],),
        "logit_bias": ({},),
        "logprobs": (False,),
        "modalities": (["text"],),
        "n": (1,),
        "parallel_tool_calls": (True, False),
        "prediction": (),
        "presence_penalty": (0,),
        "prompt_cache_key": (),
        "prompt_cache_retention": (),
        "reasoning_effort": (),
        "response_format": ({"type": "text"},),
        "safety_identifier": (),
        "service_tier": ("auto", "default"),
        "store": (False,),
        "stream": (False,),
        "stream_options": (),
        "tool_choice": ("none", "auto"),
        "tools": ([],),
        "top_logprobs": (0,),
        "verbosity": (),
        "web_search_options": (),
    }
)
"""Fields beside ``messages`` and the values of theirs that ask for nothing."""

DIFFUSION: Mapping[str, Neutral] = MappingProxyType(
    dict.fromkeys(
        (
            "criticality",
            "early_exit",
            "max_reexpansions",
            "min_steps",
            "search",
            "segment_weights",
            "stream",
            "task",
            "width",
        ),
        (),
    )
)
"""Fields of ``diffusion``."""

MESSAGE: Mapping[str, Neutral] = MappingProxyType(
    {
        "annotations": ([],),
        "audio": (),
        "function_call": (),
        "name": (),
        "refusal": (),
        "tool_call_id": (),
        "tool_calls": ([],),
    }
)
"""Fields of a message; clients send the empty ones back with an earlier answer."""


def without_refusals(body: dict[str, object]) -> dict[str, object]:
    """Return the body without fields that ask for nothing; raise for one that asks for what is not supported.

    What is neither known nor refused here stays, for the schema to name.
    """
    kept = dict(_kept(body, BODY, ""))
    messages = kept.get("messages")
    if isinstance(messages, list):
        kept["messages"] = [_kept_message(message, index) for index, message in enumerate(messages)]
    diffusion = kept.get("diffusion")
    if isinstance(diffusion, dict):
        kept["diffusion"] = dict(_kept(diffusion, DIFFUSION, "diffusion."))
    return kept


def _kept_message(message: object, index: int) -> object:
    return dict(_kept(message, MESSAGE, f"messages[{index}].")) if isinstance(message, dict) else message


def _kept(given: dict[str, Any], refused: Mapping[str, Neutral], prefix: str) -> Iterator[tuple[str, object]]:
    for name, value in given.items():
        if name not in refused:
            yield name, value
        elif value is not None and not any(_same(value, neutral) for neutral in refused[name]):
            raise _refusal(prefix + name, value, refused[name])


def _same(value: object, neutral: object) -> bool:
    """Compare as JSON does: ``true`` is not 1, while 0 and 0.0 are the same number."""
    return isinstance(value, bool) == isinstance(neutral, bool) and value == neutral


def _refusal(param: str, value: object, neutral: Neutral) -> UnsupportedFieldError:
    allowed = ", ".join(json.dumps(choice) for choice in neutral) or "null"
    return UnsupportedFieldError(param, AsJson(value), allowed, f"{param} is not supported yet. Leave it out.")
