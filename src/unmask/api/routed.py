"""What an answer says of its route: which of two models served it."""

from collections.abc import Sequence

from unmask.api.common import common
from unmask.control.admitted import Admitted
from unmask.control.answered import Answered
from unmask.control.route import Decision

MIXED = "mixed"
"""Model or reason of choices that differ in it."""


def route_of(admitted: Admitted, answered: Answered) -> dict[str, object]:
    """Write which model served a choice, and why; nothing where its request asked for a model itself."""
    decision = admitted.decision
    if decision is None:
        return {}
    return {
        "route": {
            "model": _served(admitted, answered),
            "escalated": admitted.is_escalated(answered),
            "reason": decision.reason.value,
            "probability": _probability(decision),
            "steps_small": _steps_small(admitted, answered),
        }
    }


def routes_of(admitted: Sequence[Admitted], answered: Sequence[Answered]) -> dict[str, object]:
    """Write the same of all choices of a call together."""
    decisions = [one.decision for one in admitted if one.decision is not None]
    if len(decisions) < len(admitted):
        return {}
    pairs = list(zip(admitted, answered, strict=True))
    return {
        "route": {
            "model": common(_served(*pair) for pair in pairs) or MIXED,
            "escalated": any(one.is_escalated(found) for one, found in pairs),
            "reason": common(decision.reason.value for decision in decisions) or MIXED,
            "probability": common(_probability(decision) for decision in decisions),
            "steps_small": sum(_steps_small(*pair) for pair in pairs),
        }
    }


def _served(admitted: Admitted, answered: Answered) -> str:
    return answered.model or admitted.model.name


def _probability(decision: Decision) -> float | None:
    return None if decision.probability is None else round(decision.probability, 4)


def _steps_small(admitted: Admitted, answered: Answered) -> int:
    if admitted.decision is None or not admitted.decision.is_small:
        return 0
    return sum(attempt.steps for attempt in answered.attempts if attempt.model == admitted.model.name)
