"""Takes figures of savings from what benches have found."""

from collections.abc import Iterator
from typing import Any, assert_never

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from unmask.savings.errors import FigureError
from unmask.savings.figure import Estimated, SavingFigure
from unmask.savings.registry import SAVINGS
from unmask.savings.saving import Reading, Saving


class _Found(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    n: int | None = None


class _Result(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    bench: str
    machine: str
    commit: str | None
    model: str
    model_digest: str
    seed: int
    quick: bool
    figures: list[_Found]


def figures_of(content: bytes, *, measured: str) -> tuple[SavingFigure, ...]:
    """Return the figure of every saving that the results of a bench, or of several, measure.

    Args:
        content: what ``unmask bench --json`` writes.
        measured: the day, as 2026-11-30.

    Raises:
        FigureError: these are no results, decide nothing, or measure no saving with its quality.
    """
    try:
        document: Any = orjson.loads(content)
        each = document["benches"] if isinstance(document, dict) and "benches" in document else [document]
        results = [_Result.model_validate(one) for one in each]
    except (orjson.JSONDecodeError, ValidationError, TypeError) as error:
        raise FigureError("these are no results of a bench: write them with unmask bench NAME --json") from error
    if any(result.quick for result in results):
        raise FigureError("results of --quick decide nothing: run the bench without it")
    found = tuple(figure for result in results for figure in _measured(result, measured))
    if not found:
        raise FigureError("these results measure no saving and its quality, each with an interval")
    return found


def _measured(result: _Result, measured: str) -> Iterator[SavingFigure]:
    by_name = {figure.name: figure for figure in result.figures}
    for saving in SAVINGS:
        saved, quality = by_name.get(saving.saved_figure), by_name.get(saving.quality_figure)
        if saving.bench != result.bench or saved is None or quality is None:
            continue
        share, difference = _share(saving, saved), _estimated(quality)
        # Without an interval or items a figure is no evidence.
        if share is None or difference is None or quality.n is None:
            continue
        yield SavingFigure(
            saving=saving.name,
            saved=share,
            quality=difference,
            items=quality.n,
            model=result.model,
            model_digest=result.model_digest,
            bench=result.bench,
            commit=result.commit or "unknown",
            machine=result.machine,
            seed=result.seed,
            measured=measured,
        )


def _estimated(found: _Found) -> Estimated | None:
    if found.low is None or found.high is None:
        return None
    return Estimated(value=found.value, low=found.low, high=found.high)


def _share(saving: Saving, found: _Found) -> Estimated | None:
    is_counted = saving.reading is Reading.COUNTED
    told = Estimated(value=found.value, low=found.value, high=found.value) if is_counted else _estimated(found)
    if told is None:
        return None
    match saving.reading:
        case Reading.SAVED | Reading.COUNTED:
            return told
        case Reading.REMAINING:
            return Estimated(value=1 - told.value, low=1 - told.high, high=1 - told.low)
        case Reading.SPEEDUP:
            return Estimated(value=1 - 1 / told.value, low=1 - 1 / told.low, high=1 - 1 / told.high)
        case _:
            assert_never(saving.reading)
