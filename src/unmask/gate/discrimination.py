"""Whether a judge or checker tells right answers from wrong ones, by answers whose truth is known."""

from collections.abc import Iterable
from dataclasses import dataclass

from unmask.stats import Interval, IntervalResult, wilson


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What was made of an answer whose truth is known; ``passed`` is ``None`` where nothing was."""

    is_right: bool
    passed: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Discrimination:
    """How often a judge or checker is right.

    Attributes:
        sensitivity: share of right answers that it passes, with Wilson's interval.
        specificity: share of wrong answers that it fails, likewise.
        unscored: answers that it made nothing of; they are in neither share.
    """

    right: int
    passed: int
    wrong: int
    caught: int
    unscored: int
    sensitivity: IntervalResult
    specificity: IntervalResult

    @property
    def tells_apart(self) -> bool:
        """Whether it does better than saying the same of everything, even where both intervals are at their worst.

        Sensitivity and specificity of whoever says the same of every answer, or throws a coin, add up to 1. A judge
        that always says yes has specificity 0 and does not pass; nor does one of which too little is known.
        """
        match self.sensitivity, self.specificity:
            case Interval(low=sensitivity), Interval(low=specificity):
                return sensitivity + specificity > 1
            case _:
                return False


def discrimination_of(verdicts: Iterable[Verdict], confidence: float = 0.95) -> Discrimination:
    """Return how often verdicts on answers of known truth are right."""
    found = list(verdicts)
    told = [one for one in found if one.passed is not None]
    right = [one for one in told if one.is_right]
    wrong = [one for one in told if not one.is_right]
    passed = sum(one.passed is True for one in right)
    caught = sum(one.passed is False for one in wrong)
    return Discrimination(
        right=len(right),
        passed=passed,
        wrong=len(wrong),
        caught=caught,
        unscored=len(found) - len(told),
        sensitivity=wilson(passed, len(right), confidence),
        specificity=wilson(caught, len(wrong), confidence),
    )
