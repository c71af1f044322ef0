"""Figures of savings as files: one a saving, with a digest of what it says."""

import hashlib
from collections.abc import Iterable
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Annotated

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from unmask.savings.errors import FigureError
from unmask.savings.figure import Estimated, SavingFigure
from unmask.savings.registry import SAVINGS

PACKAGED = Path(__file__).parent / "figures"
"""Figures of the shipped weights."""


def _finite(value: float) -> float:
    if not isfinite(value):
        raise ValueError("a number that is finite is needed")
    return value


_Number = Annotated[float, AfterValidator(_finite)]
_Text = Annotated[str, Field(min_length=1, max_length=200)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Estimated(_Strict):
    value: _Number
    low: _Number
    high: _Number

    @model_validator(mode="after")
    def _ordered(self) -> "_Estimated":
        if not self.low <= self.value <= self.high:
            raise ValueError("low, value and high have to rise")
        return self


class _Figure(_Strict):
    saving: _Text
    saved: _Estimated
    quality: _Estimated
    items: int = Field(ge=1)
    model: _Text
    model_digest: _Text
    bench: _Text
    commit: _Text
    machine: _Text
    seed: int
    measured: str = Field(pattern=r"^\d{4}-\d{2}-\d{2}$")


class _Document(_Strict):
    digest: str
    figure: _Figure


def read_figures(folders: Iterable[Path]) -> tuple[SavingFigure, ...]:
    """Read the figure of every saving that has one, in the registry's order; a later folder's counts over an earlier's.

    Raises:
        FigureError: a file cannot be read, does not hold a figure, or was changed since it was written.
    """
    found: dict[str, SavingFigure] = {}
    for folder in folders:
        for saving in SAVINGS:
            path = folder / f"{saving.name}.json"
            if path.is_file():
                found[saving.name] = _read(path, saving.name)
    return tuple(found[saving.name] for saving in SAVINGS if saving.name in found)


def packaged_figures() -> tuple[SavingFigure, ...]:
    """Return the figures that come with the package."""
    return read_figures((PACKAGED,))


def write_figure(folder: Path, figure: SavingFigure) -> Path:
    """Write a figure into a folder, over an earlier one of the same saving; return where.

    Raises:
        FigureError: it cannot be written.
    """
    path = folder / f"{figure.saving}.json"
    said = asdict(figure)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(orjson.dumps({"digest": digest_of(figure), "figure": said}, option=orjson.OPT_INDENT_2))
    except OSError as error:
        raise FigureError(f"{path} cannot be written: {error.strerror or error}") from error
    return path


def digest_of(figure: SavingFigure) -> str:
    """Return the SHA-256 of what a figure says, however it is laid out."""
    return hashlib.sha256(orjson.dumps(asdict(figure), option=orjson.OPT_SORT_KEYS)).hexdigest()


def _read(path: Path, name: str) -> SavingFigure:
    try:
        document = _Document.model_validate_json(path.read_bytes())
    except OSError as error:
        raise FigureError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise FigureError(f"{path} holds no figure of a saving: {place or 'the file'}: {first['msg']}") from error
    values = document.figure.model_dump()
    figure = SavingFigure(
        **{**values, "saved": Estimated(**values["saved"]), "quality": Estimated(**values["quality"])}
    )
    if figure.saving != name:
        raise FigureError(f"{path} holds a figure of {figure.saving}, allowed: of {name}. Rename the file.")
    if digest_of(figure) != document.digest:
        raise FigureError(f"{path} was changed since it was written: its digest differs. Measure it again.")
    return figure
