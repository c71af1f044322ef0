"""Behaviour of `unmask.api.seeds`."""

from hypothesis import given
from hypothesis import strategies as st

from unmask.api.seeds import LARGEST_SEED, LEAST_SEED, choice_seeds

SEEDS = st.integers(LEAST_SEED, LARGEST_SEED)


@given(seed=SEEDS, count=st.integers(1, 64), fewer=st.integers(1, 64))
def test_choices_have_seeds_of_their_own(seed: int, count: int, fewer: int) -> None:
    """The first is the call's, all are allowed seeds and differ, and more choices leave the earlier as they are."""
    seeds = choice_seeds(seed, count)

    assert seeds[0] == seed
    assert len(set(seeds)) == count
    assert all(LEAST_SEED <= one <= LARGEST_SEED for one in seeds)
    assert choice_seeds(seed, fewer)[:count] == seeds[:fewer]


@given(seed=st.integers(LEAST_SEED, LARGEST_SEED - 16))
def test_neighbouring_seeds_share_no_choice(seed: int) -> None:
    """Whoever counts seeds up gets new choices every time."""
    assert not set(choice_seeds(seed, 16)) & set(choice_seeds(seed + 1, 16))


def test_seeds_stay_what_they_are() -> None:
    """An answer can be asked for again after an update."""
    assert choice_seeds(7, 3) == (7, 2134387928323503872, -6440157100432515491)
