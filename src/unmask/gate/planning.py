"""A gate's rows before anything is run: what each needs, and its chance."""

from collections.abc import Mapping
from dataclasses import dataclass

from unmask.gate.decide_errors import GateFileError
from unmask.gate.gate_file import PERCENTILES, Bound, Gate, Row
from unmask.gate.needs import can_pass, chance, needed
from unmask.gate.plan import POWER


@dataclass(frozen=True, slots=True, kw_only=True)
class Available:
    """What a suite has."""

    clusters: int
    scenarios: int

    def of(self, row: Row) -> int:
        """Return how many there are of what counts as one in a row."""
        return self.scenarios if row.statistic in PERCENTILES else self.clusters


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPlan:
    """What a row needs.

    Attributes:
        rate: expected, as it was given.
        needed: units for the power asked; ``None`` where no number would do.
        units: that there are; ``None`` where nobody said, and then there is no chance to tell either.
    """

    row: Row
    rate: float
    needed: int | None
    units: int | None
    chance: float | None
    can_pass: bool | None


def plan_gate(
    gate: Gate,
    rates: Mapping[str, float],
    *,
    confidence: float,
    power: float = POWER,
    available: Mapping[str, Available] | None = None,
) -> tuple[RowPlan, ...]:
    """Return a plan for each row.

    Args:
        gate: whose rows.
        rates: by row: the rate or mean expected, or for a percentile the share of answers within the limit; a row that
            is not named is expected perfect. For a mean, values that are 0 or 1 are assumed, which spread most.
        confidence: of the look, two-sided.
        power: chance to pass that is asked for.
        available: by row, what the suite has.

    Raises:
        GateFileError: a rate is of no row, or not from 0 to 1.
    """
    names = [row.name for row in gate.rows]
    for name, rate in rates.items():
        if name not in names:
            raise GateFileError(f"the rate of {name!r} is of no row, allowed: {', '.join(names)}")
        if not 0 <= rate <= 1:
            raise GateFileError(
                f"the rate of {name} is {rate:g}, allowed: from 0 to 1; of a percentile it is the share of answers "
                "within the limit"
            )
    return tuple(
        _plan(row, rates.get(row.name), confidence, power, None if available is None else available[row.name])
        for row in gate.rows
    )


def _plan(row: Row, rate: float | None, confidence: float, power: float, available: Available | None) -> RowPlan:
    is_percentile = row.statistic in PERCENTILES
    mirrored = row.bound is Bound.AT_MOST and not is_percentile
    shown = (0.0 if mirrored else 1.0) if rate is None else rate
    good = 1 - shown if mirrored else shown
    units = None if available is None else available.of(row)
    return RowPlan(
        row=row,
        rate=shown,
        needed=needed(row, good, confidence, power),
        units=units,
        chance=None if units is None else chance(row, good, units, confidence),
        can_pass=None if units is None else can_pass(row, units, confidence),
    )
