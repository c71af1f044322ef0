"""Denoise steps of which a test names only what it is about."""

from collections.abc import Sequence
from typing import Any

from unmask.plan import CanvasTask
from unmask.strategy import StrategyChoice
from unmask.types import Sampling


def make_canvas_task(tokens: Sequence[int], **changes: Any) -> CanvasTask:  # noqa: ANN401 - any field of the task
    """Return the first of four steps of a canvas that may become output as a whole."""
    fields: dict[str, Any] = {
        "asked": tuple(range(len(tokens))),
        "index": 0,
        "step": 0,
        "steps_left": 4,
        "limit": len(tokens),
        "frozen": frozenset(),
        "strategy": StrategyChoice(),
        "sampling": Sampling(),
        "state": None,
        "trace": False,
    }
    return CanvasTask(tokens=tuple(tokens), **(fields | changes))
