"""What an answer's form can be held to while serving: a JSON object, or a JSON Schema.

Verification sees the answer and the format, never a truth. Schemas are compiled
once per call by `jsonschema_rs`; a reference that leads outside the schema is
refused when the schema is made, so nothing is ever fetched.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import jsonschema_rs
import orjson
from jsonschema_rs import ValidationErrorKind

from unmask.tasks.schema_limits import InvalidSchemaError, schema_work
from unmask.types import Verification

LARGEST_CHECK = 100_000_000
"""Most characters of an answer times the work of its schema: a few seconds at the very worst."""

_PATTERN_BYTES = 1 << 19
"""Largest compiled pattern; the engine is linear in the text whatever the pattern."""


class AnswerFormat(Protocol):
    """A form that answers are verified against."""

    def verify(self, text: str) -> Verification:
        """Say whether the text has the form; never raises on any text."""
        ...


@dataclass(frozen=True, slots=True)
class JsonObject:
    """The form of a JSON object, whatever it holds."""

    def verify(self, text: str) -> Verification:
        """Pass what is one JSON object and nothing beside it."""
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError:
            return Verification.FAIL
        return Verification.PASS if isinstance(value, dict) else Verification.FAIL


class JsonSchema:
    """The form that a JSON Schema describes: draft 2020-12 unless it names another, ``format`` checked as well.

    Patterns go through a linear-time engine, so they have neither look-around nor
    back-references.

    Raises:
        InvalidSchemaError: it is no schema, leads outside itself, or passes a limit of `schema_limits`.
    """

    def __init__(self, schema: Mapping[str, object]) -> None:
        self.schema = dict(schema)
        self._work = schema_work(schema)
        try:
            self._validator = jsonschema_rs.validator_for(
                dict(schema),
                offline=True,
                validate_formats=True,
                pattern_options=jsonschema_rs.RegexOptions(size_limit=_PATTERN_BYTES, dfa_size_limit=_PATTERN_BYTES),
            )
        except jsonschema_rs.ValidationError as error:
            raise _invalid(error) from error
        except ValueError as error:
            raise InvalidSchemaError(f"{error}.") from error

    def __reduce__(self) -> tuple[type["JsonSchema"], tuple[dict[str, object]]]:
        """Go to another process as the schema, which is compiled anew there."""
        return JsonSchema, (self.schema,)

    @property
    def work(self) -> int:
        """What checking an answer takes at most, for each of its characters; see `schema_limits`."""
        return self._work

    def verify(self, text: str) -> Verification:
        """Pass a JSON value that the schema allows; fail what is none, or too long to be checked in bounded time."""
        if len(text) * self._work > LARGEST_CHECK:
            return Verification.FAIL
        try:
            valid = self._validator.is_valid(orjson.loads(text))
        # Of nesting beyond what the validator follows, and of what is no JSON.
        except ValueError:
            return Verification.FAIL
        return Verification.PASS if valid else Verification.FAIL

    def fault(self, text: str) -> tuple[str | int, ...] | None:
        """Return by keys and indices which value of an answer the schema does not allow, the first of several."""
        if len(text) * self._work > LARGEST_CHECK:
            return None
        try:
            errors = self._validator.iter_errors(orjson.loads(text))
            return next((tuple(error.instance_path) for error in errors), None)
        except ValueError:
            return None


def schema_of(answer_format: AnswerFormat | None) -> dict[str, object] | None:
    """Return the schema that an answer is held to, an empty one for any object, nothing where there is none."""
    match answer_format:
        case JsonSchema():
            return answer_format.schema
        case JsonObject():
            return {}
        case _:
            return None


def _invalid(error: jsonschema_rs.ValidationError) -> InvalidSchemaError:
    place = "".join(f".{part}" if isinstance(part, str) else f"[{part}]" for part in error.instance_path)[:200]
    where = f" at {place.removeprefix('.')}" if place else ""
    match error.kind:
        case ValidationErrorKind.Format():
            return InvalidSchemaError(
                f"{_shortened(str(error.instance))!r}{where} is no pattern that is matched here.",
                "regular expressions of moderate size, without look-around and back-references",
            )
        case ValidationErrorKind.Referencing():
            return InvalidSchemaError(f"A reference leads nowhere: {_shortened(error.message)}.")
        case _:
            return InvalidSchemaError(f"{_shortened(error.message)}{where}.")


def _shortened(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:200]}..."
