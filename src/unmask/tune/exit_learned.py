"""Fits a learned exit: the probability, from a step's signals, that stopping there costs nothing."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from unmask.policy.digest import canonical, content_digest
from unmask.policy.exit_rule import FEWEST_KINDS, MEASURED, transformed
from unmask.tasks.item import Item
from unmask.tasks.registry import all_tasks
from unmask.tune.exit_runs import ExitRun, KeptStep
from unmask.types import LearnedExit, ProgressSignal

DIGITS = 6
LEAST_ROWS = 50
VERSION_DIGITS = 16
_ITERATIONS = 400


def fit_exit(items: Sequence[Item], runs: Sequence[ExitRun], threshold: float) -> LearnedExit | None:
    """Fit a score to whole runs, every item counting the same; nothing where there is nothing to tell apart.

    Stopping costs nothing where the answer is right with the step's draft, or wrong in the full run too. The draft
    stands before the full run's later canvases, so of answers of several canvases this is near, not exact.
    """
    rows: list[tuple[float, ...]] = []
    free: list[bool] = []
    weights: list[float] = []
    for item, run in zip(items, runs, strict=True):
        found = list(_rows(item, run))
        rows += [values for values, _ in found]
        free += [costs_nothing for _, costs_nothing in found]
        weights += [1 / max(len(found), 1)] * len(found)
    if len(rows) < LEAST_ROWS or all(free) or not any(free):
        return None
    return _fitted(np.array(rows), np.array(free), np.array(weights), threshold)


def _fitted(
    values: NDArray[np.float64], free: NDArray[np.bool_], weights: NDArray[np.float64], threshold: float
) -> LearnedExit | None:
    spread = values.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    model = LogisticRegression(max_iter=_ITERATIONS).fit(values / scale, free, sample_weight=weights)
    found = zip(MEASURED, (model.coef_[0] / scale).round(DIGITS).tolist(), strict=True)
    kept = tuple((signal, weight) for signal, weight in found if weight != 0)
    if len({signal.kind for signal, _ in kept}) < FEWEST_KINDS:
        return None
    return _versioned(kept, round(float(model.intercept_[0]), DIGITS), threshold)


def _versioned(weights: tuple[tuple[ProgressSignal, float], ...], bias: float, threshold: float) -> LearnedExit:
    said: Mapping[str, object] = {"bias": bias, "weights": {signal.value: weight for signal, weight in weights}}
    version = content_digest(canonical(dict(said)))[:VERSION_DIGITS]
    return LearnedExit(version=version, bias=bias, weights=weights, threshold=threshold)


def _rows(item: Item, run: ExitRun) -> Iterator[tuple[tuple[float, ...], bool]]:
    canvases = [tuple(steps) for _, steps in groupby(run.trace, key=lambda step: step.canvas)]
    ends = [bytes.fromhex(steps[-1].data) for steps in canvases]
    for number, steps in enumerate(canvases):
        for step in steps:
            values = _values(step)
            if not step.done and values is not None:
                yield values, not run.correct or _is_right(item, step, ends, number)


def _values(step: KeptStep) -> tuple[float, ...] | None:
    """Return what a learned score reads of a step; nothing where a signal has no value."""
    told = dict(zip(ProgressSignal, step.values, strict=True))
    found = [(signal, value) for signal in MEASURED if (value := told[signal]) is not None]
    if step.filled == 0 or len(found) < len(MEASURED):
        return None
    return tuple(transformed(signal, value) for signal, value in found)


def _is_right(item: Item, step: KeptStep, ends: Sequence[bytes], number: int) -> bool:
    after = () if step.ends else ends[number + 1 :]
    text = b"".join((*ends[:number], bytes.fromhex(step.data), *after)).decode("utf-8", "replace")
    return all_tasks()[item.task].check(item, text).passed
