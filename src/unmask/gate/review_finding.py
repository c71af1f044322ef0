"""What a review changes: a new scenario, a rubric or a threshold, and which decisions it comes from."""

from dataclasses import dataclass, replace
from enum import StrEnum

from unmask.gate.correction import Correction
from unmask.gate.scenario import Scenario


class FindingKind(StrEnum):
    """What is changed."""

    SCENARIO = "scenario"
    RUBRIC = "rubric"
    THRESHOLD = "threshold"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One change and where it comes from.

    Attributes:
        run: id of the run whose answers were reviewed.
        corrections: ids of the corrections that it comes from.
        to: the file that is changed.
        scenario: id of the scenario that was written, if one was.
        note: what is changed and why.
        when: in UTC, as ISO 8601 writes it.
    """

    kind: FindingKind
    run: str
    corrections: tuple[str, ...]
    to: str
    scenario: str | None
    note: str
    who: str
    when: str


def scenario_from(
    source: Scenario, correction: Correction, *, run: str, name: str | None, question: str | None
) -> Scenario:
    """Return a scenario that asks once more what an answer was judged on, to be mended by hand.

    It stays in its source's cluster, as it resembles it: however many are made of one, they count as one.

    Args:
        source: the scenario whose answer was judged.
        correction: what was said of the answer.
        run: id of the run that the answer is of.
        name: its id; made from the source's and the correction's where there is none.
        question: what its last turn asks instead.
    """
    *before, last = source.turns
    turns = (*before, last if question is None else replace(last, question=question))
    key = correction.key
    note = (
        f"from the review of run {run}: answer {key.scenario}:{key.seed}:{key.system}, {correction.metric} "
        f"{correction.decision.replace('_', ' ')} by {correction.who} at {correction.when} (correction {correction.id})"
    )
    return replace(
        source,
        id=name or f"{source.id}-review-{correction.id[:6]}",
        turns=turns,
        note=f"{note}: {correction.note}" if correction.note else note,
    )
