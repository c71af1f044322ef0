"""Whether a judge tells right from wrong."""

from unmask.gate.discrimination import Verdict, discrimination_of
from unmask.stats import Interval, NotEnoughData


def verdicts(right: tuple[int, int], wrong: tuple[int, int], unscored: int = 0) -> list[Verdict]:
    """Return verdicts by passed and failed counts."""
    return [
        *[Verdict(is_right=True, passed=True)] * right[0],
        *[Verdict(is_right=True, passed=False)] * right[1],
        *[Verdict(is_right=False, passed=True)] * wrong[0],
        *[Verdict(is_right=False, passed=False)] * wrong[1],
        *[Verdict(is_right=False, passed=None)] * unscored,
    ]


def test_a_judge_that_always_says_yes_is_caught() -> None:
    """Full sensitivity is worth nothing without specificity."""
    found = discrimination_of(verdicts((100, 0), (100, 0)))

    assert isinstance(found.specificity, Interval)
    assert found.specificity.estimate == 0.0
    assert not found.tells_apart


def test_a_good_judge_tells_apart() -> None:
    """Both intervals together are above chance."""
    assert discrimination_of(verdicts((95, 5), (10, 90))).tells_apart


def test_a_coin_does_not_tell_apart() -> None:
    """Half and half is chance."""
    assert not discrimination_of(verdicts((50, 50), (50, 50))).tells_apart


def test_unscored_answers_are_in_neither_share() -> None:
    """A judge that returns prose is not wrong; it has said nothing."""
    found = discrimination_of(verdicts((0, 0), (0, 0), unscored=30))

    assert found.unscored == 30
    assert isinstance(found.specificity, NotEnoughData)
    assert not found.tells_apart
