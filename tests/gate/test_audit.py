"""Behaviour of `unmask.gate.audit`."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.gate.review_runs import make_key
from unmask.gate.audit import AuditDraw, audited, drawn, next_draw
from unmask.gate.response import SystemLabel
from unmask.gate.review_errors import ReviewError

KEYS = [make_key(f"s{number}", seed, system) for number in range(10) for seed in range(2) for system in SystemLabel]


def make_draw(n: int = 5, of: int = len(KEYS), seed: int = 3) -> AuditDraw:
    """Return a draw."""
    return AuditDraw(seed=seed, n=n, of=of, who="mina", when="now")


def extend(earlier: AuditDraw | None, n: int, *, of: int = len(KEYS), seed: int | None = None) -> AuditDraw | None:
    """Ask for more."""
    return next_draw(earlier, n=n, of=of, seed=seed, who="mina", when="now")


def test_every_answer_is_drawn_equally_often() -> None:
    """Over many seeds, each of 40 answers is among 10 drawn about a quarter of the time."""
    counts = Counter(key for seed in range(2000) for key in drawn(KEYS, seed, 10))

    assert set(counts) == set(KEYS)
    assert all(420 < count < 580 for count in counts.values())  # 500 ± 4 standard deviations


@given(st.integers(0, 100), st.integers(1, 40), st.integers(1, 40), st.permutations(KEYS))
def test_larger_draw_holds_the_smaller(seed: int, first: int, second: int, shuffled: list[object]) -> None:
    """Whatever order the answers are in: what was reviewed is of use in a larger audit."""
    small, large = sorted((first, second))

    assert drawn(KEYS, seed, large)[:small] == drawn(KEYS, seed, small)
    assert drawn(shuffled, seed, small) == drawn(KEYS, seed, small)  # type: ignore[arg-type]


def test_probability_is_recorded() -> None:
    """Each drawn answer has it, and no other answer has any."""
    chances = audited(make_draw(n=10), KEYS)

    assert chances == dict.fromkeys(drawn(KEYS, 3, 10), 0.25)
    assert audited(None, KEYS) == {}


def test_run_that_grew_is_drawn_from_again() -> None:
    """A probability of other answers would be a wrong one."""
    with pytest.raises(ReviewError, match="drawn from 40 answers and the run has 39"):
        audited(make_draw(), KEYS[1:])
    grown = extend(make_draw(), 5, of=50)

    assert grown is not None
    assert (grown.n, grown.of, grown.seed) == (5, 50, 3)


def test_draw_goes_on_with_its_seed() -> None:
    """The first one's, or 0; the same draw twice is none."""
    assert extend(None, 5) == make_draw(seed=0)
    assert extend(None, 5, seed=9) == make_draw(seed=9)
    assert extend(make_draw(), 6) == make_draw(n=6)
    assert extend(make_draw(), 5) is None


@pytest.mark.parametrize(
    ("earlier", "n", "seed", "names"),
    [
        (None, 41, None, "1 to 40"),
        (None, 0, None, "1 to 40"),
        (make_draw(), 4, None, "from 5"),
        (make_draw(), 6, 4, "no random ones"),
    ],
)
def test_draw_that_would_not_be_random_is_refused(
    earlier: AuditDraw | None, n: int, seed: int | None, names: str
) -> None:
    """Nobody draws again until the answers look good."""
    with pytest.raises(ReviewError, match=names):
        extend(earlier, n, seed=seed)
