"""What each field may be, in words: the second half of every message about a bad field."""

from collections.abc import Mapping
from types import MappingProxyType

from unmask.api import completion_schema
from unmask.api.chat_schema import MOST_MESSAGES, MOST_PARTS
from unmask.api.completion_schema import MOST_PROMPTS
from unmask.api.effort import Effort
from unmask.api.format_schema import LONGEST_DESCRIPTION, LONGEST_NAME
from unmask.api.rule import Rule
from unmask.api.schema import (
    LARGEST_WEIGHT,
    LONGEST_KEY,
    LONGEST_LABEL,
    MOST_CHOICES,
    MOST_METADATA,
    MOST_REEXPANSIONS,
    MOST_TOTAL_STEPS,
    MOST_WEIGHTS,
    ServiceTier,
)
from unmask.api.seeds import LARGEST_SEED, LEAST_SEED
from unmask.api.verify_rules import VERIFY_RULES
from unmask.backend import HIGHEST_TEMPERATURE, MOST_ALTERNATIVES, MOST_STOPS
from unmask.service import MOST_WIDTH, Criticality, SearchMethod
from unmask.strategy import NAMED_STRATEGIES
from unmask.types import Mode

_WHOLE = "Send a whole number, without quotes or a fraction."
_STEPS = Rule("a whole number, at least 1", f"{_WHOLE} /v1/models shows the most a model takes.")
_TOKENS = Rule("a whole number, at least 1", _WHOLE)
_CANVAS = Rule("one of the model's canvas lengths", f"{_WHOLE} /v1/models shows the lengths a model takes.")
_OBJECT = "Send {...}."
_WEIGHTS = Rule(
    f"a list of 1 to {MOST_WEIGHTS} numbers above 0, up to {LARGEST_WEIGHT}", "Send one a canvas, or leave it out."
)
_TRUTH = Rule("true or false", "Send it without quotes.")
_LABEL = Rule(f"text of at most {LONGEST_LABEL} characters", "Send a shorter string, or leave it out.")
_FORMATS = 'Send {"type": "json_schema", "json_schema": {"name": "...", "schema": {...}}}.'

_SHARED: Mapping[str, Rule] = {
    "model": Rule("the name of a served model", "Ask /v1/models for the names."),
    "max_tokens": _TOKENS,
    "n": Rule(f"a whole number from 1 to {MOST_CHOICES}", "For more answers send more requests."),
    "temperature": Rule(f"a number from 0 to {HIGHEST_TEMPERATURE:g}", "0 takes the likeliest token everywhere."),
    "top_p": Rule("a number above 0, up to 1", "1 draws from all tokens."),
    "seed": Rule(f"a whole number from {LEAST_SEED} to {LARGEST_SEED}", _WHOLE),
    "stop": Rule(f"a text, or a list of 1 to {MOST_STOPS} texts, none empty", "Leave stop out for none."),
    "stream": _TRUTH,
    "stream_options": Rule("an object, with stream: true", 'Send {"include_usage": true}, or leave it out.'),
    "stream_options.include_usage": _TRUTH,
    "response_format": Rule("an object with type", _FORMATS),
    "response_format.type": Rule("text, json_object or json_schema", "Leave response_format out for any text."),
    "response_format.json_schema": Rule("an object with name and schema", _FORMATS),
    "response_format.json_schema.name": Rule(
        f"1 to {LONGEST_NAME} letters, digits, underscores and dashes", "Choose a name of these."
    ),
    "response_format.json_schema.description": Rule(
        f"text of at most {LONGEST_DESCRIPTION} characters", "Shorten it, or leave it out."
    ),
    "response_format.json_schema.schema": Rule("an object: a JSON Schema", "{} allows any JSON."),
    "service_tier": Rule(", ".join(ServiceTier), "Leave it out for the default class."),
    "reasoning_effort": Rule(", ".join(Effort), "Or leave it out, and set diffusion.max_steps."),
    "diffusion": Rule("an object", _OBJECT),
    "diffusion.max_steps": _STEPS,
    "diffusion.max_total_steps": Rule(f"a whole number from 1 to {MOST_TOTAL_STEPS}", _WHOLE),
    "diffusion.min_steps": Rule("1", "More than 1 is not supported yet. Leave it out."),
    "diffusion.canvas_length": _CANVAS,
    "diffusion.mode": Rule(", ".join(Mode), "Leave it out for diffusion."),
    "diffusion.strategy": Rule(", ".join(NAMED_STRATEGIES), "Leave it out for the model's default."),
    "diffusion.threshold": Rule("a number, at least 0", "Leave it out for the strategy's own."),
    "diffusion.window": Rule("a whole number, at least 1", "Leave it out for the strategy's own."),
    "diffusion.task": Rule("the name of a task type", "Leave it out, or ask /v1/models for the names."),
    "diffusion.service_class": Rule("the name of a service class", "Leave it out, or ask /v1/models for the names."),
    "diffusion.criticality": Rule(", ".join(Criticality), "Leave it out for normal."),
    "diffusion.early_exit": _TRUTH,
    "diffusion.max_reexpansions": Rule(f"a whole number from 0 to {MOST_REEXPANSIONS}", _WHOLE),
    "diffusion.search": Rule(", ".join(SearchMethod), "Leave it out for what the policy has."),
    "diffusion.width": Rule(f"a whole number from 1 to {MOST_WIDTH}", "1 runs the request once."),
    "diffusion.segment_weights": _WEIGHTS,
    "diffusion.segment_weights[]": _WEIGHTS,
    "diffusion.stream": Rule("committed, snapshots or verified, with stream: true", "Leave it out for the default."),
    **VERIFY_RULES,
    "num_denoising_steps": _STEPS,
    "vllm_xargs": Rule("an object", _OBJECT),
    "vllm_xargs.diffusion_max_steps": _STEPS,
    "vllm_xargs.diffusion_canvas_length": _CANVAS,
    "user": _LABEL,
    "metadata": Rule(
        f"an object of at most {MOST_METADATA} texts of at most {LONGEST_LABEL} characters, "
        f"by names of at most {LONGEST_KEY}",
        "Send strings only, or leave it out.",
    ),
}

CHAT_RULES: Mapping[str, Rule] = MappingProxyType(
    {
        **_SHARED,
        "messages": Rule(f"a list of 1 to {MOST_MESSAGES} messages", "Send at least the user's message."),
        "messages[]": Rule("an object with role and content", _OBJECT),
        "messages[].role": Rule("system, developer, user or assistant", "Tools are not supported yet."),
        "messages[].content": Rule(f"text or a list of 1 to {MOST_PARTS} text parts, not empty", "Send some text."),
        "messages[].content[]": Rule("an object with type and text", 'Send {"type": "text", "text": "..."}.'),
        "messages[].content[].type": Rule("text", "Images, audio and files are not supported."),
        "messages[].content[].text": Rule("text", "Send a string."),
        "max_completion_tokens": _TOKENS,
        "logprobs": _TRUTH,
        "top_logprobs": Rule(
            f"a whole number from 0 to {MOST_ALTERNATIVES}, with logprobs: true",
            "Lower it, or leave it out.",
        ),
        "prompt_cache_key": _LABEL,
        "safety_identifier": _LABEL,
    }
)

COMPLETION_RULES: Mapping[str, Rule] = MappingProxyType(
    {
        **_SHARED,
        "prompt": Rule(f"a text, or a list of 1 to {MOST_PROMPTS} texts, none empty", "Send a string."),
        "prompt[]": Rule("a text, not empty", "Send a list of strings, or one string."),
        "echo": _TRUTH,
        "logprobs": Rule(
            f"a whole number from 0 to {completion_schema.MOST_ALTERNATIVES}", "0 gives each token's own alone."
        ),
        "best_of": Rule("a whole number, the same as n", "Leave it out."),
    }
)

WHOLE_FIELDS = frozenset({"stop", "metadata"})
"""Fields that are named as a whole whatever part of them is wrong."""
