"""From a parsed body to a valid one; the first thing wrong is named with what is allowed and the fix."""

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from unmask.api.errors import UnknownFieldError
from unmask.api.refusals import DIFFUSION, without_refusals
from unmask.api.rules import RULES, WHOLE_FIELDS
from unmask.api.schema import PARTS_TAG, TEXT_TAG, ChatBody, ChatMessage, DiffusionOptions, TextPart
from unmask.api.shown import AsJson
from unmask.errors import InvalidRequestError

LONGEST_NAME = 80
"""An unknown field's name is cut to this many characters before it is repeated."""


class _Missing:
    def __repr__(self) -> str:
        return "missing"


def validate_body(body: dict[str, object]) -> ChatBody:
    """Check every field of a chat completion request.

    Raises:
        UnsupportedFieldError: a field asks for what is not supported yet.
        UnknownFieldError: a field does not exist.
        InvalidRequestError: a field's value is not allowed.
    """
    kept = without_refusals(body)
    try:
        return ChatBody.model_validate(kept)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
    raise _named(first)


def _named(error: ErrorDetails) -> InvalidRequestError:
    *above, last = error["loc"]
    path = [part for part in above if part not in (TEXT_TAG, PARTS_TAG)]
    if error["type"] == "extra_forbidden":
        return _unknown(path, str(last), error["input"])
    if last not in (TEXT_TAG, PARTS_TAG):
        path.append(last)
    if path[0] in WHOLE_FIELDS:
        path = path[:1]
    rule = RULES[_path(path, generic=True)]
    value = _Missing() if error["type"] == "missing" else AsJson(error["input"])
    return InvalidRequestError(_path(path), value, rule.allowed, rule.fix)


def _unknown(above: list[int | str], name: str, value: object) -> UnknownFieldError:
    model: type[BaseModel]
    match above:
        case []:
            model = ChatBody
        case ["diffusion"]:
            model = DiffusionOptions
        case ["messages", _]:
            model = ChatMessage
        case _:
            model = TextPart
    planned = f" Not supported yet: {', '.join(DIFFUSION)}." if model is DiffusionOptions else ""
    return UnknownFieldError(
        _path([*above, name[:LONGEST_NAME]]),
        AsJson(value),
        f"only the fields {', '.join(model.model_fields)}",
        f"Leave it out.{planned}",
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
