"""What a finality model is trained on: positions of traced runs, and whether their draft token was final."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from unmask.backend import Backend, Generation
from unmask.policy.finality import FEATURES, Flags, Floats, Ints, features, sights
from unmask.strategy import StrategyChoice, StrategyName
from unmask.tasks.item import Item
from unmask.tune.asking import Asking, completed, end_token
from unmask.tune.errors import ExitRunError
from unmask.tune.in_flight import run_in_flight
from unmask.types import StepTrace

FULL = StrategyChoice()
"""The run whose end is the truth: as many steps as its budget has, the likeliest position first."""
HASTY = tuple(StrategyChoice(name=StrategyName.CONFIDENCE_THRESHOLD, threshold=threshold) for threshold in (0.7, 0.9))
"""Runs that reveal more in a step: canvases as serving sees them."""

NO_END = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FinalityRows:
    """Candidates of traced steps, a row each.

    Attributes:
        found: their features, ``[rows, features]``.
        final: whether the draft token is what the item's full run ends with there, ``[rows]``.
        item: number of the item, ``[rows]``.
        hasty: whether the run was one of `HASTY`, ``[rows]``.
    """

    found: Floats
    final: Flags
    item: Ints
    hasty: Flags

    def of(self, chosen: Flags) -> "FinalityRows":
        """Return some of the rows."""
        return FinalityRows(
            found=self.found[chosen], final=self.final[chosen], item=self.item[chosen], hasty=self.hasty[chosen]
        )

    @property
    def weights(self) -> Floats:
        """Weights by which every item counts the same, ``[rows]``; their mean is 1."""
        _, place, counts = np.unique(self.item, return_inverse=True, return_counts=True)
        weights: Floats = len(self.item) / (len(counts) * counts[place])
        return weights


async def collect_rows(
    backend: Backend, asking: Asking, items: Sequence[Item], budgets: Mapping[str, int], *, in_flight: int
) -> FinalityRows:
    """Trace every item's full and hasty runs, each with the budget of its task type.

    Raises:
        ExitRunError: the backend failed a request, or no run had a candidate.
        UnmaskError: it refused one.
    """
    rows: dict[int, list[FinalityRows]] = {}

    async def work(job: tuple[int, Item]) -> None:
        number, item = job
        runs = [
            completed(await backend.generate(asking.request(item, budgets[item.task], strategy)), item)
            for strategy in (FULL, *HASTY)
        ]
        rows[number] = list(_item_rows(number, runs))

    await run_in_flight(enumerate(items), work, in_flight)
    return joined([part for number in sorted(rows) for part in rows[number]])


def joined(parts: Sequence[FinalityRows]) -> FinalityRows:
    """Return all rows of several sets.

    Raises:
        ExitRunError: there are none.
    """
    if not parts or not sum(len(part.final) for part in parts):
        raise ExitRunError("no run has a step with a position to decide; give the task types more steps")
    return FinalityRows(
        found=np.concatenate([part.found for part in parts]),
        final=np.concatenate([part.final for part in parts]),
        item=np.concatenate([part.item for part in parts]),
        hasty=np.concatenate([part.hasty for part in parts]),
    )


def _item_rows(number: int, runs: Sequence[Generation]) -> Iterator[FinalityRows]:
    end = next((found for run in runs if (found := end_token(run)) is not None), NO_END)
    full = list(_canvases(runs[0].trace))
    for run in runs:
        for canvas, final in zip(_canvases(run.trace), full, strict=False):
            truth = np.array(final[-1].draft, dtype=np.int64)
            yield from _canvas_rows(number, canvas, truth, end, is_hasty=run is not runs[0])
            if canvas[-1].draft != final[-1].draft:
                # What follows is behind another context, so the full run says nothing of it.
                break


def _canvas_rows(
    number: int, canvas: Sequence[StepTrace], truth: NDArray[np.int64], end: int, *, is_hasty: bool
) -> Iterator[FinalityRows]:
    """Yield rows for as long as all that is fixed agrees with the full run; behind that it says nothing."""
    for sight in sights(canvas, end):
        fixed = ~sight.open
        if not (sight.draft[fixed] == truth[fixed]).all():
            return
        places = np.flatnonzero(sight.candidates)
        yield FinalityRows(
            found=features(sight).reshape(len(places), len(FEATURES)),
            final=sight.draft[places] == truth[places],
            item=np.full(len(places), number, dtype=np.int64),
            hasty=np.full(len(places), is_hasty, dtype=np.bool_),
        )


def _canvases(trace: Sequence[StepTrace]) -> Iterator[tuple[StepTrace, ...]]:
    for _, steps in groupby(trace, key=lambda entry: entry.canvas):
        yield tuple(steps)
