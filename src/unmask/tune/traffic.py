"""Requests that were served, read from a file, to see whether service classes differ in what they need."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from unmask.tune.errors import CurveFileError


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """One request.

    Attributes:
        difficulty: the estimator's score, log2 of the steps a request is thought to need.
        seconds: from its first step to its end.
        deadline_s: seconds that its caller would wait at most; ``None`` where nobody said.
    """

    service_class: str
    task: str
    difficulty: float
    seconds: float
    deadline_s: float | None


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    service_class: str
    task: str
    difficulty: float
    seconds: float = Field(ge=0)
    deadline_s: float | None = Field(default=None, gt=0)


def read_traffic(path: Path) -> tuple[Served, ...]:
    """Read one JSON object a line.

    Raises:
        CurveFileError: it cannot be read, or a line is something else.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise CurveFileError(f"cannot read the records {str(path)!r}: {error}") from error
    return tuple(_parsed(path, lines))


def _parsed(path: Path, lines: Iterable[bytes]) -> Iterable[Served]:
    for number, line in enumerate(lines, start=1):
        try:
            yield Served(**_Line.model_validate_json(line).model_dump())
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise CurveFileError(
                f"line {number} of {str(path)!r} is no record: {place} {first['msg']}".strip()
            ) from error
