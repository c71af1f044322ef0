"""From a parsed body to a valid one; the first thing wrong is named with what is allowed and the fix."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from unmask.api.chat_schema import ChatBody, ChatMessage, TextPart
from unmask.api.completion_schema import CompletionBody
from unmask.api.errors import UnknownFieldError, UnsupportedFieldError
from unmask.api.format_schema import PLAIN_TAG, SCHEMA_TAG, NamedSchema, PlainFormat, SchemaFormat
from unmask.api.refusals import CHAT, COMPLETION, without_refusals
from unmask.api.rule import Rule
from unmask.api.rules import CHAT_RULES, COMPLETION_RULES, WHOLE_FIELDS
from unmask.api.schema import PARTS_TAG, TEXT_TAG, DiffusionOptions, GeneratingBody, StreamOptions, VllmArguments
from unmask.api.shown import AsJson
from unmask.api.verify_schema import VERIFIER_TAGS
from unmask.errors import InvalidRequestError

LONGEST_NAME = 80
"""An unknown field's name is cut to this many characters before it is repeated."""

_TAGS = frozenset({TEXT_TAG, PARTS_TAG, PLAIN_TAG, SCHEMA_TAG, *VERIFIER_TAGS})
_BY_TAG: Mapping[str, type[BaseModel]] = MappingProxyType({PLAIN_TAG: PlainFormat, **VERIFIER_TAGS})
"""Objects of which there are several kinds in one place."""
_BELOW: Mapping[str, type[BaseModel]] = MappingProxyType(
    {
        "diffusion": DiffusionOptions,
        "messages[]": ChatMessage,
        "messages[].content[]": TextPart,
        "response_format": SchemaFormat,
        "response_format.json_schema": NamedSchema,
        "stream_options": StreamOptions,
        "vllm_xargs": VllmArguments,
    }
)
"""The objects of a body."""

_Body = TypeVar("_Body", bound=GeneratingBody)


class _Missing:
    def __repr__(self) -> str:
        return "missing"


def validate_chat(body: dict[str, object]) -> ChatBody:
    """Check every field of a chat completion request.

    Raises:
        UnsupportedFieldError: a field asks for what is not supported yet.
        UnknownFieldError: a field does not exist.
        InvalidRequestError: a field's value is not allowed.
    """
    return _validated(ChatBody, without_refusals(body, CHAT), CHAT_RULES)


def validate_completion(body: dict[str, object]) -> CompletionBody:
    """Check every field of a completion request.

    Raises:
        UnsupportedFieldError: a field asks for what is not supported yet.
        UnknownFieldError: a field does not exist.
        InvalidRequestError: a field's value is not allowed.
    """
    _refuse_token_ids(body.get("prompt"))
    return _validated(CompletionBody, without_refusals(body, COMPLETION), COMPLETION_RULES)


def _refuse_token_ids(prompt: object) -> None:
    if isinstance(prompt, list) and prompt and all(type(part) in (int, list) for part in prompt):
        raise UnsupportedFieldError(
            "prompt", AsJson(prompt), "a text, or a list of texts", "Token ids are not supported. Send their text."
        )


def _validated(body_type: type[_Body], body: dict[str, object], rules: Mapping[str, Rule]) -> _Body:
    try:
        return body_type.model_validate(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
    raise _named(first, body_type, rules)


def _named(error: ErrorDetails, body_type: type[BaseModel], rules: Mapping[str, Rule]) -> InvalidRequestError:
    *above, last = error["loc"]
    path = [part for part in above if part not in _TAGS]
    if error["type"] == "extra_forbidden":
        tag = str(above[-1]) if above else ""
        owner = _BY_TAG.get(tag) or _BELOW.get(_path(path, generic=True), body_type)
        return _unknown(path, str(last), error["input"], owner)
    if last not in _TAGS:
        path.append(last)
    if path[0] in WHOLE_FIELDS:
        path = path[:1]
    rule = rules[_path(path, generic=True)]
    value = _Missing() if error["type"] == "missing" else AsJson(error["input"])
    return InvalidRequestError(_path(path), value, rule.allowed, rule.fix)


def _unknown(above: list[int | str], name: str, value: object, owner: type[BaseModel]) -> UnknownFieldError:
    known = (field.alias or name for name, field in owner.model_fields.items())
    return UnknownFieldError(
        _path([*above, name[:LONGEST_NAME]]),
        AsJson(value),
        f"only the fields {', '.join(known)}",
        "Leave it out.",
    )


def _path(parts: list[int | str], *, generic: bool = False) -> str:
    """Write a path as clients know it, such as ``messages[0].content``; a generic one leaves the numbers out."""
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += "[]" if generic else f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text
