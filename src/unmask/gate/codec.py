"""Answers and scores as lines of JSON, and the binding of a run as a document: read strictly, back to the same values.

What is written is a value's own fields by their own names, so that a line says what `unmask.gate.response` and
`unmask.gate.score` say; a name that they do not know is refused.
"""

from typing import Generic, Literal, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from unmask.gate.errors import RunFolderError
from unmask.gate.response import Binding, Response
from unmask.gate.score import Scored

FORMAT: Literal["unmask.gate.run/1"] = "unmask.gate.run/1"

_Value = TypeVar("_Value")


class Strict(BaseModel, Generic[_Value]):
    """Lends its strictness to the value in it, which is a plain dataclass; see `read_strict`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    value: _Value


class _Run(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal["unmask.gate.run/1"]
    binding: Binding


_RESPONSE = TypeAdapter(Strict[Response])
_SCORED = TypeAdapter(Strict[Scored])


def response_line(response: Response) -> bytes:
    """Write an answer as one line, its end included."""
    return orjson.dumps(response) + b"\n"


def read_response(line: bytes) -> Response:
    """Read what `response_line` writes.

    Raises:
        RunFolderError: it is no answer; says which field, its value and what is allowed.
    """
    return read_strict(_RESPONSE, line, "an answer")


def scored_line(scored: Scored) -> bytes:
    """Write the marks of an answer as one line, its end included."""
    return orjson.dumps(scored) + b"\n"


def read_scored(line: bytes) -> Scored:
    """Read what `scored_line` writes.

    Raises:
        RunFolderError: it is no score; says which field, its value and what is allowed.
    """
    return read_strict(_SCORED, line, "a score")


def binding_text(binding: Binding) -> str:
    """Write what a run is of, as the document that begins its folder."""
    return orjson.dumps({"format": FORMAT, "binding": binding}, option=orjson.OPT_INDENT_2).decode() + "\n"


def read_binding(text: str) -> Binding:
    """Read what `binding_text` writes.

    Raises:
        RunFolderError: it is no binding; says which field, its value and what is allowed.
    """
    try:
        return _Run.model_validate_json(text).binding
    except ValidationError as error:
        raise RunFolderError(f"no description of a gate run: {_first_misfit(error, 0)}") from error


def read_strict(adapter: TypeAdapter[Strict[_Value]], line: bytes, what: str) -> _Value:
    """Read a line of JSON that is the fields of a value by their own names.

    Raises:
        RunFolderError: it is something else than ``what``; says which field is the first that does not fit, and how.
    """
    try:
        # A line is the value itself; what lends it strictness is put around it here and nowhere else.
        return adapter.validate_json(b'{"value":' + line.strip() + b"}").value
    except ValidationError as error:
        raise RunFolderError(f"not {what}: {_first_misfit(error, 1)}") from error


def _first_misfit(error: ValidationError, depth: int) -> str:
    found = error.errors(include_url=False, include_context=False)[0]
    path = ".".join(map(str, found["loc"][depth:]))
    return f"{path}: {found['msg']}" if path else found["msg"]
