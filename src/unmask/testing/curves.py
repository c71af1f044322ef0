"""Curves made by hand."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from unmask.strategy import StrategyChoice
from unmask.tune.curve import Curve, CurveSet
from unmask.tune.origin import Origin
from unmask.tune.settings import CurveSettings
from unmask.types import Mode


def make_curve(*rows: str, task: str = "sort", grid: tuple[int, ...] = (1, 4, 8)) -> Curve:
    """Return a curve from one row of 1 and 0 per budget; each item takes all its steps, a tenth of a second each."""
    correct = np.array([[mark == "1" for mark in row] for row in rows], dtype=np.bool_)
    steps = np.repeat(np.array(grid[: len(rows)], dtype=np.int64)[:, None], correct.shape[1], axis=1)
    return Curve(
        task=task,
        grid=grid,
        items=tuple(f"item{place:04d}" for place in range(correct.shape[1])),
        difficulty=tuple(f"length={3 + place % 10}" for place in range(correct.shape[1])),
        correct=correct,
        steps=steps,
        seconds=steps / 10,
    )


def make_shares(shares: Sequence[float], *, items: int = 1000, task: str = "sort", grid: tuple[int, ...]) -> Curve:
    """Return a curve with these shares of right answers, the same items right first at every budget."""
    rows = ("1" * round(share * items) + "0" * (items - round(share * items)) for share in shares)
    return make_curve(*rows, task=task, grid=grid)


def make_curve_settings(**changes: Any) -> CurveSettings:  # noqa: ANN401 - any field of the settings
    """Return the settings of a small run."""
    fields: dict[str, Any] = {
        "model": "tiny",
        "model_digest": "0123456789abcdef",
        "tasks": ("sort",),
        "items": 3,
        "grid": (1, 4, 16),
        "seed": 0,
        "strategy": StrategyChoice(),
        "canvas_length": 16,
        "mode": Mode.DIFFUSION,
        "in_flight": 2,
    }
    return CurveSettings(**(fields | changes))


def make_curves(*curves: Curve, **changes: Any) -> CurveSet:  # noqa: ANN401 - any field of the settings
    """Return a set of curves whose settings fit them."""
    settings = make_curve_settings(
        tasks=tuple(curve.task for curve in curves), items=len(curves[0].items), grid=curves[0].grid, **changes
    )
    return CurveSet(settings=settings, origin=make_origin(), curves=curves)


def make_origin() -> Origin:
    """Return an origin that is nowhere."""
    return Origin(machine="a machine", commit="0123456789ab", date="2026-01-01T00:00:00+00:00")
