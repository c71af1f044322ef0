"""What a gate decided, as one value that every report is written from."""

from dataclasses import dataclass
from enum import StrEnum

from unmask.gate.gate_file import Gate, Row
from unmask.gate.response import Binding
from unmask.stats import Interval

LEAST_CONFIDENCE = 0.95


class Verdict(StrEnum):
    """Of a row or a run: the whole interval clears, the whole interval misses, or neither."""

    PASS = "PASS"
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"


def worst(verdicts: tuple[Verdict, ...]) -> Verdict:
    """Return FAIL if there is one, else INCONCLUSIVE if there is one, else PASS."""
    for verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE):
        if verdict in verdicts:
            return verdict
    return Verdict.PASS


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How often one system was looked at on one suite family.

    Attributes:
        number: k = 0, 1, ...: runs of the same system on the family before this one.
        exploratory: whether its verdicts decide nothing.
    """

    number: int
    exploratory: bool = False

    @property
    def confidence(self) -> float:
        """Two-sided, 1 - 0.05 / 2^k: a system that is not good enough passes at any of its looks in 5 % at most."""
        return confidence_at(self.number)


def confidence_at(look: int) -> float:
    """Return the two-sided confidence of the intervals of look k = 0, 1, ..."""
    return float(1 - (1 - LEAST_CONFIDENCE) * 2.0**-look)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What a figure rests on.

    Attributes:
        units: what counts as one in the interval: clusters, or for a percentile scenarios.
        answers: that should have a mark; of these so many are ``unscored``.
    """

    units: int
    answers: int
    unscored: int

    @property
    def unscored_share(self) -> float:
        """Share of answers without a mark."""
        return self.unscored / self.answers if self.answers else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """The model less what it is held against, on the same clusters; above 0 more, not necessarily better.

    Attributes:
        difference: ``None`` with too few clusters.
        clusters: passed by the model alone, and by the other alone; ``scenarios`` alike.
        clusters_p: exact McNemar, two-sided; ``scenarios_p`` alike.
        verdict: of the non-inferiority by the row's margin; ``None`` where it has none.
    """

    difference: Interval | None
    clusters: tuple[int, int]
    clusters_p: float
    scenarios: tuple[int, int]
    scenarios_p: float
    verdict: Verdict | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowResult:
    """What became of one row.

    Attributes:
        interval: what decides; its upper end may be infinite for seconds. ``None`` where there is too little for one.
        method: of the interval, in a few words.
        design_effect: the interval by clusters' design effect, shown beside and never decided on: it is not monotone.
        against: the same figure of the system that the model is held against.
        needed: units of a fresh run that would decide this row with 80 % power at the rate seen; ``None`` where the row
            is decided or no number would.
        can_pass: whether any answers at all could make this row pass with so many units.
        why: of the verdict, in one sentence.
    """

    row: Row
    verdict: Verdict
    interval: Interval | None
    method: str
    counts: Counts
    why: str
    design_effect: Interval | None = None
    against: Interval | None = None
    paired: Paired | None = None
    needed: int | None = None
    can_pass: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """The whole decision.

    Attributes:
        scorer: digest of whatever made the marks.
        decided: when, as ISO 8601.
    """

    binding: Binding
    gate: Gate
    scorer: str
    look: Look
    verdict: Verdict
    rows: tuple[RowResult, ...]
    warnings: tuple[str, ...]
    decided: str
