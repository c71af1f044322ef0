"""What each field of ``diffusion.verify`` may be, in words."""

from collections.abc import Mapping
from types import MappingProxyType

from unmask.api.rule import Rule
from unmask.api.verify_schema import (
    HIGHEST_SAMPLING_TEMPERATURE,
    KINDS,
    LARGEST_COUNT,
    LONGEST_SEPARATOR,
    LONGEST_TEXT,
    MOST_ITEMS,
    MOST_TEXTS,
    MOST_VERIFIERS,
)
from unmask.tasks.consistency import MOST_SAMPLES, Compared
from unmask.tasks.constraint import ItemOrder
from unmask.tasks.length import LengthUnit
from unmask.tasks.patterns import LONGEST_PATTERN

_WHOLE = "Send a whole number, without quotes or a fraction."
_TRUTH = Rule("true or false", "Send it without quotes.")
_COUNT = Rule(f"a whole number from 0 to {LARGEST_COUNT}", _WHOLE)
_BOUND = Rule(f"a number; of length a whole number from 0 to {LARGEST_COUNT}", "Send it without quotes.")
_TEXT = Rule(f"text of 1 to {LONGEST_TEXT} characters", "Send a string.")
_TEXTS = Rule(f"a list of 1 to {MOST_TEXTS} texts", "Send a list of strings, or leave it out.")
_SAMPLES = Rule(f"a whole number from 1 to {MOST_SAMPLES}", _WHOLE)

_FIELDS: Mapping[str, Rule] = {
    "kind": Rule(", ".join(KINDS), "A JSON Schema goes into response_format."),
    "pattern": Rule(f"a regular expression of 1 to {LONGEST_PATTERN} characters", "Send a string."),
    "minimum": _BOUND,
    "maximum": _BOUND,
    "whole": _TRUTH,
    "alone": _TRUTH,
    "unit": Rule(", ".join(LengthUnit), "Leave it out for characters."),
    "separator": Rule(f"text of 1 to {LONGEST_SEPARATOR} characters", "Leave it out for a comma."),
    "same_items": Rule(f"a list of 1 to {MOST_ITEMS} texts", "Send a list of strings, or leave it out."),
    "same_items[]": _TEXT,
    "order": Rule(", ".join(ItemOrder), "Leave it out for any."),
    "distinct": _TRUTH,
    "min_items": _COUNT,
    "max_items": _COUNT,
    "required": _TEXTS,
    "required[]": _TEXT,
    "forbidden": _TEXTS,
    "forbidden[]": _TEXT,
    "samples": _SAMPLES,
    "agree": _SAMPLES,
    "compare": Rule(", ".join(Compared), "Leave it out for text."),
    "temperature": Rule(f"a number above 0, up to {HIGHEST_SAMPLING_TEMPERATURE:g}", "Leave it out for 0.7."),
}

VERIFY_RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "diffusion.verify": Rule(f"a list of 1 to {MOST_VERIFIERS} objects with kind", "Leave it out for none."),
        "diffusion.verify[]": Rule(f"an object with a kind of {', '.join(KINDS)}", 'Send {"kind": "...", ...}.'),
        **{f"diffusion.verify[].{name}": rule for name, rule in _FIELDS.items()},
    }
)
