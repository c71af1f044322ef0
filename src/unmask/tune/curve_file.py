"""Curves as a JSON file: whatever was measured, item by item, so that later tools need nothing else."""

from pathlib import Path
from typing import Literal

import numpy as np
import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from unmask.tune.curve import Curve, CurveSet
from unmask.tune.errors import CurveFileError, CurveRunError
from unmask.tune.origin import Origin
from unmask.tune.settings import CurveSettings

FORMAT: Literal["unmask.curves/1"] = "unmask.curves/1"
_DIGITS = 6


class _Curve(BaseModel):
    """One row a budget; ``correct`` is a text of 0 and 1, a digit an item."""

    model_config = ConfigDict(extra="forbid")

    task: str
    items: list[str]
    difficulty: list[str]
    correct: list[str]
    steps: list[list[int]]
    seconds: list[list[float]]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    format: Literal["unmask.curves/1"]
    settings: CurveSettings
    origin: Origin
    curves: list[_Curve]


def write_curves(path: Path, curves: CurveSet) -> None:
    """Write a set of curves, whole or not at all.

    Raises:
        CurveRunError: it cannot be written.
    """
    value = {
        "format": FORMAT,
        "settings": curves.settings,
        "origin": curves.origin,
        "curves": [
            {
                "task": curve.task,
                "items": curve.items,
                "difficulty": curve.difficulty,
                "correct": ["".join("1" if right else "0" for right in row) for row in curve.correct],
                "steps": curve.steps.tolist(),
                "seconds": [[round(value, _DIGITS) for value in row] for row in curve.seconds.tolist()],
            }
            for curve in curves.curves
        ],
    }
    partial = path.with_suffix(".partial")
    try:
        partial.write_bytes(orjson.dumps(value) + b"\n")
        partial.replace(path)
    except OSError as error:
        raise CurveRunError(f"cannot write the curves {str(path)!r}: {error}; free some space") from error


def read_curves(path: Path) -> CurveSet:
    """Read a set of curves.

    Raises:
        CurveFileError: the file cannot be read, is damaged, or is of another kind.
    """
    try:
        file = _File.model_validate_json(path.read_bytes())
    except OSError as error:
        raise CurveFileError(f"cannot read the curves {str(path)!r}: {error}; `unmask curve` measures them") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise CurveFileError(f"{str(path)!r} is no file of curves: {place} {first['msg']}".strip()) from error
    settings = file.settings
    if tuple(curve.task for curve in file.curves) != settings.tasks:
        raise CurveFileError(f"the curves {str(path)!r} are damaged: not one for each of {', '.join(settings.tasks)}")
    if not settings.grid or list(settings.grid) != sorted(set(settings.grid)) or settings.grid[0] < 1:
        raise CurveFileError(f"the curves {str(path)!r} are damaged: budgets must rise, got {settings.grid}")
    for curve in file.curves:
        _check(path, curve, settings)
    return CurveSet(
        settings=settings, origin=file.origin, curves=tuple(_curve(curve, settings.grid) for curve in file.curves)
    )


def _check(path: Path, curve: _Curve, settings: CurveSettings) -> None:
    budgets = len(settings.grid)
    # Of a user's own items there may be fewer than were asked for.
    count = settings.items if settings.tasks_file is None else min(len(curve.items), settings.items)
    whole = count > 0 and len(set(curve.items)) == len(curve.items) == len(curve.difficulty) == count
    for table in (curve.correct, curve.steps, curve.seconds):
        whole = whole and len(table) == budgets and all(len(row) == count for row in table)
    if not whole or any(set(row) - {"0", "1"} for row in curve.correct):
        raise CurveFileError(
            f"the curves {str(path)!r} are damaged: {curve.task} has not {count} different items at {budgets} budgets"
        )
    if not all(np.isfinite(row).all() and min(row) >= 0 for row in curve.seconds) or any(
        min(row) < 0 for row in curve.steps
    ):
        raise CurveFileError(f"the curves {str(path)!r} are damaged: {curve.task} has steps or seconds below zero")


def _curve(curve: _Curve, grid: tuple[int, ...]) -> Curve:
    return Curve(
        task=curve.task,
        grid=grid,
        items=tuple(curve.items),
        difficulty=tuple(curve.difficulty),
        correct=np.array([[mark == "1" for mark in row] for row in curve.correct], dtype=np.bool_),
        steps=np.array(curve.steps, dtype=np.int64),
        seconds=np.array(curve.seconds, dtype=np.float64),
    )
