"""Answers beside what was made of them, as a person reads them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from unmask.gate.cells import read_mark
from unmask.gate.gate_file import PERCENTILES, Gate, Row, Statistic
from unmask.gate.response import Response
from unmask.gate.score import Mark, Scored


class State(StrEnum):
    """What a reader looks for. An answer is the first of these that holds."""

    FAULT = "fault"
    FAILED = "failed"
    BORDERLINE = "borderline"
    UNSCORED = "unscored"
    GOOD = "good"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer with its marks; ``scored`` is ``None`` where nothing scored it."""

    response: Response
    scored: Scored | None
    state: State


def answers_of(gate: Gate, responses: Sequence[Response], scored: Sequence[Scored]) -> tuple[Answer, ...]:
    """Pair answers with their marks, by key."""
    by_key = {item.key: item for item in scored}
    return tuple(
        Answer(response=response, scored=item, state=state_of(gate, response, item))
        for response in sorted(responses, key=lambda response: response.key)
        for item in (by_key.get(response.key),)
    )


def state_of(gate: Gate, response: Response, scored: Scored | None) -> State:
    """Tell what a person would want to know first of an answer."""
    if response.fault is not None:
        return State.FAULT
    if scored is None or not scored.marks:
        return State.UNSCORED
    if any(is_bad(row, mark) for row in gate.rows for mark in scored.marks if row.metric is mark.metric):
        return State.FAILED
    if any(mark.borderline for mark in scored.marks):
        return State.BORDERLINE
    return State.UNSCORED if any(mark.value is None for mark in scored.marks) else State.GOOD


def is_bad(row: Row, mark: Mark) -> bool:
    """Tell whether an answer alone is on the wrong side of a row."""
    if mark.value is None:
        return False
    if row.statistic in PERCENTILES or row.statistic is Statistic.MEAN:
        return not row.clears(mark.value)
    return not row.clears(read_mark(row, mark.value))
