"""Scores as people corrected them. The scores of a run stay as they are: verdicts can be had from either."""

from collections.abc import Iterable
from dataclasses import replace

from unmask.gate.bar import REVIEWED
from unmask.gate.correction import Correction, Decision
from unmask.gate.score import Mark, Scored
from unmask.gate.standing import Standing


def apply_corrections(scores: Iterable[Scored], standing: Standing) -> tuple[Scored, ...]:
    """Return the scores with every decision in force put into them.

    A corrected mark has the person's value and says who decided what, when and why; its votes stay. It is borderline
    no more. Every mark of a scenario at fault is unscored, in all systems and seeds, so that it speaks for neither;
    to leave out an answer of one system alone would. ``seconds`` stay: a clock asked no question.
    """
    at_fault = standing.scenario_errors
    return tuple(
        replace(one, marks=tuple(_mark(one, mark, standing, at_fault.get(one.key.scenario)) for mark in one.marks))
        for one in scores
    )


def _mark(scored: Scored, mark: Mark, standing: Standing, scenario_error: Correction | None) -> Mark:
    if scenario_error is not None:
        if mark.metric not in REVIEWED:
            return mark
        return replace(mark, value=None, why=(*mark.why, _words(scenario_error, mark)), borderline=False)
    correction = standing.latest.get((scored.key, mark.metric))
    if correction is None:
        return mark
    return replace(mark, value=correction.value, why=(*mark.why, _words(correction, mark)), borderline=False)


def _words(correction: Correction, mark: Mark) -> str:
    was = "unscored" if mark.value is None else f"{mark.value:g}"
    decided = correction.decision.replace("_", " ")
    if correction.decision is Decision.SCENARIO_ERROR:
        decided += f" (of {correction.key.scenario})"
    note = f": {correction.note}" if correction.note else ""
    return f"{decided} by {correction.who} at {correction.when}, was {was}{note}"
