"""The verdict of a gate on a scored run."""

from dataclasses import dataclass, replace
from datetime import datetime

from unmask.gate.against import compare_row
from unmask.gate.cells import cells_of
from unmask.gate.counted import counted
from unmask.gate.decide_errors import UndecidableError
from unmask.gate.gate_file import Gate, Row
from unmask.gate.response import Binding, System, SystemLabel
from unmask.gate.rows import decide_row, figure
from unmask.gate.score import Scored
from unmask.gate.verdict import GateReport, Look, RowResult, Verdict, worst


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRun:
    """A run with its scores, however they were kept.

    Attributes:
        scorer: digest of all that made the marks: checks, rubrics, judges and what they were asked.
        corrected: how many marks are as people put them right.
        answers: of the lines that hold its answers, as `unmask.gate.kept.chained`; ``votes`` of those of its judges.
    """

    binding: Binding
    scored: tuple[Scored, ...]
    scorer: str
    corrected: int = 0
    answers: tuple[str, ...] = ()
    votes: tuple[str, ...] = ()

    @property
    def model(self) -> System:
        """The system that is judged."""
        return next(system for system in self.binding.systems if system.label is SystemLabel.MODEL)

    @property
    def has_other(self) -> bool:
        """Whether there is a system that it is held against."""
        return any(system.label is SystemLabel.AGAINST for system in self.binding.systems)

    @property
    def scenarios(self) -> frozenset[str]:
        """Ids of the scenarios that it is of."""
        return frozenset(item.key.scenario for item in self.scored)

    @property
    def seen(self) -> frozenset[str]:
        """Ids of the scenarios that have an answer; what was never asked, or the infrastructure failed, is unseen."""
        return frozenset(item.key.scenario for item in self.scored if any(one.value is not None for one in item.marks))


def check_decidable(run: ScoredRun) -> None:
    """Refuse what no verdict can rest on.

    Raises:
        UndecidableError: no scenario was asked, nothing was answered, or scores are of other seeds or systems.
    """
    if not run.scored:
        raise UndecidableError(f"run {run.binding.run} holds no scored answer; is the suite empty? Score it first")
    own = [item for item in run.scored if item.key.system is SystemLabel.MODEL]
    if not any(mark.value is not None for item in own for mark in item.marks):
        raise UndecidableError(
            f"no answer of run {run.binding.run} has a mark: that is a fault of the infrastructure or of the scoring, "
            "not of the model. See its faults, and run it again"
        )
    labels = {system.label for system in run.binding.systems}
    for item in run.scored:
        if item.key.seed not in run.binding.seeds or item.key.system not in labels:
            raise UndecidableError(
                f"run {run.binding.run} holds a score of {item.key.scenario} with seed {item.key.seed} of "
                f"{item.key.system}, which it never asked; its scores are another run's"
            )


def decide(run: ScoredRun, gate: Gate, look: Look, now: datetime) -> GateReport:
    """Return what a gate says of a run.

    Raises:
        UndecidableError: as `check_decidable`.
    """
    check_decidable(run)
    rows = tuple(_row(row, run, look.confidence) for row in gate.rows)
    return GateReport(
        binding=run.binding,
        gate=gate,
        scorer=run.scorer,
        look=look,
        verdict=worst(tuple(result.verdict for result in rows)),
        rows=rows,
        warnings=(*_said_by_people(run), *(_warning(result) for result in rows if not result.can_pass)),
        decided=now.isoformat(),
    )


def _said_by_people(run: ScoredRun) -> tuple[str, ...]:
    if not run.corrected:
        return ()
    marks = counted(run.corrected, "mark")
    return (f"{marks} put right by reviewers; who, when and why stands beside each",)


def _row(row: Row, run: ScoredRun, confidence: float) -> RowResult:
    result = decide_row(row, run.scored, run.binding.seeds, confidence)
    if not run.has_other:
        return result
    paired = compare_row(row, run.scored, run.binding.seeds, confidence)
    cells = cells_of(row, run.scored, SystemLabel.AGAINST, run.binding.seeds)
    result = replace(result, against=figure(row, cells, confidence)[0], paired=paired)
    if paired is None or paired.verdict in {None, Verdict.PASS}:
        return result
    assert paired.verdict is not None
    joint = worst((result.verdict, paired.verdict))
    if joint is result.verdict:
        return result
    words = "is worse by more" if joint is Verdict.FAIL else "may be worse by more"
    why = f"the model {words} than the margin of {row.margin:g} than what it is held against"
    return replace(result, verdict=joint, why=why)


def _warning(result: RowResult) -> str:
    row, counts = result.row, result.counts
    units = counted(counts.units, row.unit)
    return f"{row.name} can never pass with {units} at this look, whatever the answers: {row.words}"
