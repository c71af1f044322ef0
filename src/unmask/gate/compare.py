"""What changed between two runs, split into what is measured otherwise and what answers are otherwise."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from unmask.gate.against import paired_interval
from unmask.gate.cells import Cell, cells_of
from unmask.gate.decide import ScoredRun, check_decidable
from unmask.gate.decide_errors import UndecidableError
from unmask.gate.gate_file import PERCENTILES, Gate, Row
from unmask.gate.response import SystemLabel
from unmask.gate.rows import decide_row, figure
from unmask.gate.verdict import LEAST_CONFIDENCE, Verdict
from unmask.stats import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChange:
    """How a row's figure moved, in its own unit; above 0 is more, not necessarily better.

    Attributes:
        old: old answers, old scoring.
        rescored: old answers, new scoring.
        new: new answers, new scoring.
        measurement: ``rescored`` less ``old`` on the same answers: what the change of scoring alone did.
        quality: ``new`` less ``rescored`` on the same clusters: what the change of answers alone did.
        verdicts: of ``old``, by the old gate's row of this name where there is one, of ``rescored`` and of ``new``.
            None of them is a decision.
    """

    row: Row
    old: Interval | None
    rescored: Interval | None
    new: Interval | None
    measurement: Interval | None
    quality: Interval | None
    verdicts: tuple[Verdict | None, Verdict, Verdict]


def compare_runs(
    old: ScoredRun, rescored: ScoredRun, new: ScoredRun, gate: Gate, old_gate: Gate | None = None
) -> tuple[RowChange, ...]:
    """Return what changed in every row of a gate, each with 95 % intervals.

    Raises:
        UndecidableError: ``rescored`` is of other answers than ``old``, or scored otherwise than ``new``.
    """
    for run in (old, rescored, new):
        check_decidable(run)
    if rescored.binding.run != old.binding.run:
        raise UndecidableError(
            f"the rescored answers are of run {rescored.binding.run}, allowed: those of {old.binding.run}; copy that "
            "run's folder and score the copy as the new run was"
        )
    if rescored.scorer != new.scorer:
        raise UndecidableError(
            f"the old answers are scored by {rescored.scorer[:12]} and the new ones by {new.scorer[:12]}, so that a "
            "change of scoring cannot be told from one of answers; score the old run as the new one was, in a copy of "
            "its folder, and name that with --rescored"
        )
    before = {row.name: row for row in (old_gate or gate).rows}
    return tuple(_change(row, before.get(row.name), old, rescored, new) for row in gate.rows)


def _change(row: Row, before: Row | None, old: ScoredRun, rescored: ScoredRun, new: ScoredRun) -> RowChange:
    cells = [cells_of(row, run.scored, SystemLabel.MODEL, run.binding.seeds) for run in (old, rescored, new)]
    figures = [figure(row, own, LEAST_CONFIDENCE)[0] for own in cells]
    return RowChange(
        row=row,
        old=figures[0],
        rescored=figures[1],
        new=figures[2],
        measurement=_difference(row, cells[1], cells[0]),
        quality=_difference(row, cells[2], cells[1]),
        verdicts=(
            None if before is None else _verdict(before, old),
            _verdict(row, rescored),
            _verdict(row, new),
        ),
    )


def _difference(row: Row, later: Sequence[Cell], earlier: Sequence[Cell]) -> Interval | None:
    if row.statistic not in PERCENTILES:
        return paired_interval(later, earlier, LEAST_CONFIDENCE)
    if later == earlier:
        return Interval(estimate=0.0, low=0.0, high=0.0)
    # Each at half the error, so that both hold together as often as is said.
    after, before = (figure(row, cells, (1 + LEAST_CONFIDENCE) / 2)[0] for cells in (later, earlier))
    if after is None or before is None or math.isinf(after.high) or math.isinf(before.high):
        return None
    return Interval(
        estimate=after.estimate - before.estimate, low=after.low - before.high, high=after.high - before.low
    )


def _verdict(row: Row, run: ScoredRun) -> Verdict:
    return decide_row(row, run.scored, run.binding.seeds, LEAST_CONFIDENCE).verdict
