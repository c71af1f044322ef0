"""What each field may be, in words: the second half of every message about a bad field."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from unmask.api.schema import LARGEST_SEED, LEAST_SEED, MOST_METADATA, MOST_STOPS
from unmask.types import StrategyName


class Rule(NamedTuple):
    """What is allowed, and what to do about a value that is not."""

    allowed: str
    fix: str


_WHOLE = "Send a whole number, without quotes or a decimal point."
_STEPS = Rule("a whole number, at least 1", f"{_WHOLE} /v1/models shows the most a model takes.")
_TOKENS = Rule("a whole number, at least 1", _WHOLE)
_OBJECT = "Send {...}."

RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "model": Rule("the name of a served model", "Ask /v1/models for the names."),
        "messages": Rule("a list of at least one message", "Send at least the user's message."),
        "messages[]": Rule("an object with role and content", _OBJECT),
        "messages[].role": Rule("system, developer, user or assistant", "Tools are not supported yet."),
        "messages[].content": Rule("text or a list of text parts, not empty", "Send some text."),
        "messages[].content[]": Rule("an object with type and text", 'Send {"type": "text", "text": "..."}.'),
        "messages[].content[].type": Rule("text", "Images, audio and files are not supported."),
        "messages[].content[].text": Rule("text", "Send a string."),
        "max_tokens": _TOKENS,
        "max_completion_tokens": _TOKENS,
        "temperature": Rule("a number from 0 to 2", "0 takes the likeliest token everywhere."),
        "top_p": Rule("a number above 0, up to 1", "1 draws from all tokens."),
        "seed": Rule(f"a whole number from {LEAST_SEED} to {LARGEST_SEED}", _WHOLE),
        "stop": Rule(f"a text, or a list of 1 to {MOST_STOPS} texts, none empty", "Leave stop out for none."),
        "diffusion": Rule("an object", _OBJECT),
        "diffusion.max_steps": _STEPS,
        "diffusion.max_total_steps": _STEPS,
        "diffusion.canvas_length": Rule(
            "one of the model's canvas lengths", f"{_WHOLE} /v1/models shows the lengths a model takes."
        ),
        "diffusion.strategy": Rule(", ".join(StrategyName), "Leave it out for the model's default."),
        "diffusion.threshold": Rule("a number, at least 0", "Leave it out for the strategy's own."),
        "num_denoising_steps": _STEPS,
        "user": Rule("text", "Send a string, or leave it out."),
        "metadata": Rule(f"an object of at most {MOST_METADATA} texts", "Send strings only, or leave it out."),
    }
)

WHOLE_FIELDS = frozenset({"stop", "metadata"})
"""Fields that are named as a whole whatever part of them is wrong."""
