"""Fields of the OpenAI API and of vLLM's, and planned ones of this one, that are not supported yet.

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
Refusals = Mapping[str, Neutral]

_SHARED: Refusals = {
    "frequency_penalty": (0,),
    "logit_bias": ({},),
    "presence_penalty": (0,),
    # Those of vLLM, whose clients send some of them whatever they ask.
    "ignore_eos": (False,),
    "include_stop_str_in_output": (False,),
    "length_penalty": (1,),
    "min_p": (0,),
    "min_tokens": (0,),
    "repetition_penalty": (1,),
    "skip_special_tokens": (True,),
    "spaces_between_special_tokens": (True,),
    "stop_token_ids": ([],),
    "top_k": (-1, 0),
    "use_beam_search": (False,),
}

CHAT: Refusals = MappingProxyType(
    {
        **_SHARED,
        "audio": (),
        "function_call": ("none", "auto"),
        "functions": ([],),
        "modalities": (["text"],),
        "moderation": (),
        "parallel_tool_calls": (True, False),
        "prediction": (),
        "prompt_cache_options": ({}, {"mode": "implicit"}),
        "prompt_cache_retention": ("in_memory", "in-memory"),
        "store": (False,),
        "tool_choice": ("none", "auto"),
        "tools": ([],),
        "verbosity": ("medium",),
        "web_search_options": (),
    }
)
"""Fields of a chat completion request and the values of theirs that ask for nothing."""

COMPLETION: Refusals = MappingProxyType({**_SHARED, "suffix": ("",)})
"""Fields of a completion request."""

MESSAGE: Refusals = MappingProxyType(
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

TEXT_PART: Refusals = MappingProxyType({"prompt_cache_breakpoint": ()})
"""Fields of a text part."""

STREAM_OPTIONS: Refusals = MappingProxyType({"include_obfuscation": (False,)})
"""Fields of ``stream_options``."""

NAMED_SCHEMA: Refusals = MappingProxyType({"strict": (False,)})
"""Fields of ``response_format.json_schema``."""

_BELOW: Mapping[tuple[str, ...], Refusals] = MappingProxyType(
    {("stream_options",): STREAM_OPTIONS, ("response_format", "json_schema"): NAMED_SCHEMA}
)

_FIXES: Mapping[str, str] = MappingProxyType(
    {
        "response_format.json_schema.strict": "No format can be guaranteed yet. Send false: the answer is verified "
        "against the schema, and usage.diffusion.verify says what came of it.",
        "best_of": "Choosing the best of several answers is not supported yet. Leave it out.",
    }
)


def without_refusals(body: dict[str, object], refused: Refusals) -> dict[str, object]:
    """Return the body without fields that ask for nothing; raise for one that asks for what is not supported.

    What is neither known nor refused here stays, for the schema to name.

    Args:
        body: a parsed body.
        refused: the fields of its own that are not supported: `CHAT` or `COMPLETION`.
    """
    kept: dict[str, object] = dict(_kept(body, refused, ""))
    messages = kept.get("messages")
    if isinstance(messages, list):
        kept["messages"] = [_kept_message(message, f"messages[{index}].") for index, message in enumerate(messages)]
    for path, table in _BELOW.items():
        _keep_below(kept, path, table, "")
    return kept


def refusal(param: str, value: object, allowed: str) -> UnsupportedFieldError:
    """Return the error for a field that asks for what is not supported yet."""
    fix = _FIXES.get(param, f"{param} is not supported yet. Leave it out.")
    return UnsupportedFieldError(param, AsJson(value), allowed, fix)


def _keep_below(kept: dict[str, object], path: tuple[str, ...], refused: Refusals, prefix: str) -> None:
    name, *rest = path
    below = kept.get(name)
    if not isinstance(below, dict):
        return
    if rest:
        kept[name] = below = dict(below)
        _keep_below(below, tuple(rest), refused, f"{prefix}{name}.")
    else:
        kept[name] = dict(_kept(below, refused, f"{prefix}{name}."))


def _kept_message(message: object, prefix: str) -> object:
    if not isinstance(message, dict):
        return message
    kept = dict(_kept(message, MESSAGE, prefix))
    content = kept.get("content")
    if isinstance(content, list):
        kept["content"] = [
            dict(_kept(part, TEXT_PART, f"{prefix}content[{index}].")) if isinstance(part, dict) else part
            for index, part in enumerate(content)
        ]
    return kept


def _kept(given: dict[str, Any], refused: Refusals, prefix: str) -> Iterator[tuple[str, object]]:
    for name, value in given.items():
        if name not in refused:
            yield name, value
        elif value is not None and not any(_same(value, neutral) for neutral in refused[name]):
            raise refusal(prefix + name, value, ", ".join(json.dumps(choice) for choice in refused[name]) or "null")


def _same(value: object, neutral: object) -> bool:
    """Compare as JSON does: ``true`` is not 1, while 0 and 0.0 are the same number."""
    return isinstance(value, bool) == isinstance(neutral, bool) and value == neutral
