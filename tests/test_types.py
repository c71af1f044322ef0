"""Behaviour of the values in `unmask.types` that have one."""

from hypothesis import given
from hypothesis import strategies as st

from unmask.control.moves import ATTEMPT_SEEDS
from unmask.search.requests import SEARCH_SEEDS
from unmask.types import Sampling

SEEDS = st.integers(-(1 << 63), (1 << 63) - 1)


@given(seed=SEEDS, numbers=st.sets(st.integers(1, 1_000), min_size=2, max_size=8))
def test_generations_of_a_request_have_seeds_of_their_own(seed: int, numbers: set[int]) -> None:
    """Whatever they are for, and nothing else of how tokens are drawn is touched."""
    sampling = Sampling(temperature=0.7, top_p=0.9, seed=seed)
    found = [sampling.reseeded(number, use=use) for number in numbers for use in (b"", SEARCH_SEEDS, ATTEMPT_SEEDS)]

    assert len({one.seed for one in found}) == 3 * len(numbers)
    assert {(one.temperature, one.top_p) for one in found} == {(0.7, 0.9)}


def test_seeds_stay_what_they_are() -> None:
    """The same request is searched and attempted again the same way after an update."""
    sampling = Sampling(seed=-5)

    assert sampling.reseeded(3, use=SEARCH_SEEDS).seed == -2656876073056508579
    assert sampling.reseeded(3, use=ATTEMPT_SEEDS).seed == 7954006412047489904
