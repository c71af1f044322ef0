"""What a person says of a mark, after reading the answer itself."""

from dataclasses import dataclass
from enum import StrEnum

from unmask.gate.bar import REVIEWED, best, passes, worst
from unmask.gate.response import Response, ResponseKey
from unmask.gate.review_errors import ReviewError
from unmask.gate.score import Mark, Metric
from unmask.policy.digest import canonical, content_digest

LONGEST_NOTE = 2_000
"""Characters."""


class Decision(StrEnum):
    """What a reviewer finds.

    ``correct`` and ``wrong`` are of the answer, by the metric in question; ``judge_error`` is of its mark, which is
    not what the answer deserves; ``scenario_error`` is of the scenario: it asks for what is not so, or cannot be
    told, and none of its answers says anything about a model.
    """

    CORRECT = "correct"
    WRONG = "wrong"
    JUDGE_ERROR = "judge_error"
    SCENARIO_ERROR = "scenario_error"


NEED_NOTES = frozenset({Decision.JUDGE_ERROR, Decision.SCENARIO_ERROR})
"""Decisions that something of the gate is at fault; who mends it has to know what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """One decision of one person on one mark. It is added, never changed; a later one on the same mark counts over it.

    Attributes:
        value: what the mark should be; ``None`` for a scenario error alone.
        who: the reviewer's name.
        when: in UTC, as ISO 8601 writes it.
        of_score: digest of the mark that the reviewer saw.
        of_answer: digest of the text that the reviewer read; of another text a correction says nothing.
    """

    key: ResponseKey
    metric: Metric
    decision: Decision
    value: float | None
    note: str
    who: str
    when: str
    of_score: str
    of_answer: str

    @property
    def id(self) -> str:
        """What findings name it by: 12 digits of the digest of all of it."""
        return content_digest(canonical(self))[:12]

    @property
    def passed(self) -> bool | None:
        """Whether the person lets the answer pass; ``None`` where the scenario is at fault."""
        return None if self.value is None else passes(self.metric, self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What a reviewer enters: a decision, a value where it is no plain pass or failure, and a note."""

    decision: Decision
    value: float | None = None
    note: str = ""


def corrected(response: Response, mark: Mark, ruling: Ruling, *, who: str, when: str) -> Correction:
    """Return a correction of a mark of an answer.

    Without a value, ``correct`` and ``wrong`` keep a mark that agrees and else are the best or worst there is, and
    ``judge_error`` is the other side of the bar.

    Raises:
        ReviewError: the ruling contradicts itself, or the mark is none that a person may judge.
    """
    if mark.metric not in REVIEWED:
        raise ReviewError(f"{mark.metric} is measured, not judged, allowed: {', '.join(REVIEWED)}", param="metric")
    if not who.strip():
        raise ReviewError("a correction needs a reviewer's name: give --as NAME", param="who")
    if len(ruling.note) > LONGEST_NOTE:
        raise ReviewError(
            f"the note has {len(ruling.note)} characters, allowed: up to {LONGEST_NOTE}. Shorten it", param="note"
        )
    if ruling.decision in NEED_NOTES and not ruling.note.strip():
        raise ReviewError(f"a {ruling.decision.replace('_', ' ')} needs a note that says what is wrong", param="note")
    return Correction(
        key=response.key,
        metric=mark.metric,
        decision=ruling.decision,
        value=_value(mark, ruling),
        note=ruling.note.strip(),
        who=who.strip(),
        when=when,
        of_score=mark_digest(mark),
        of_answer=answer_digest(response),
    )


def answer_digest(response: Response) -> str:
    """Return the digest of what a reviewer reads of a response: its texts, and not how long they took."""
    return content_digest(canonical([turn.text for turn in response.turns]))


def mark_digest(mark: Mark) -> str:
    """Return the digest of a mark with its votes."""
    return content_digest(canonical(mark))


def _value(mark: Mark, ruling: Ruling) -> float | None:
    metric, given = mark.metric, ruling.value
    if given is not None and not 0 <= given <= 1:
        raise ReviewError(f"value is {given!r}, allowed: 0 to 1. 1 is best, of hallucination 0", param="value")
    match ruling.decision:
        case Decision.SCENARIO_ERROR:
            if given is not None:
                raise ReviewError("a scenario error has no value: leave the value out", param="value")
            return None
        case Decision.CORRECT:
            return _on_side(mark, given, is_pass=True)
        case Decision.WRONG:
            return _on_side(mark, given, is_pass=False)
        case Decision.JUDGE_ERROR:
            return _other_than(mark, given, metric)


def _on_side(mark: Mark, given: float | None, *, is_pass: bool) -> float:
    """Return a value on one side of the bar: the one given, else the mark's own, else the end of that side."""
    if given is None:
        if mark.value is not None and passes(mark.metric, mark.value) is is_pass:
            return mark.value
        return best(mark.metric) if is_pass else worst(mark.metric)
    if passes(mark.metric, given) is not is_pass:
        side = "correct" if is_pass else "wrong"
        raise ReviewError(f"{given!r} of {mark.metric} is not {side}: give another value or decision", param="value")
    return given


def _other_than(mark: Mark, given: float | None, metric: Metric) -> float:
    """Return what a mark should have been."""
    if given is None:
        if mark.value is None:
            raise ReviewError(
                f"{metric} has no mark that could be in error: decide correct or wrong, or give a value", param="value"
            )
        return worst(metric) if passes(metric, mark.value) else best(metric)
    if given == mark.value:
        raise ReviewError(f"{metric} is marked {given!r} as it is, which is no judge error", param="value")
    return given
