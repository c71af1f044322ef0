"""Behaviour of `unmask.work`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.work import FORWARD_BOUNDS_S, GROWTH_BOUNDS, NO_GROWTH, EngineWork, GrowthBand, grown


@given(st.lists(st.tuples(st.integers(1, 64), st.integers(1, 4_096), st.floats(0, 9)), max_size=30))
def test_every_forward_is_in_the_sums_and_in_one_band(forwards: list[tuple[int, int, float]]) -> None:
    """Whatever they took."""
    work = EngineWork()
    for rows, tokens, seconds in forwards:
        work = work.after(rows, tokens, seconds)

    assert (work.forwards, sum(work.times)) == (len(forwards), len(forwards))
    assert work.rows == sum(rows for rows, _, _ in forwards)
    assert work.tokens == sum(tokens for _, tokens, _ in forwards)
    assert work.seconds == pytest.approx(sum(seconds for _, _, seconds in forwards))


@pytest.mark.parametrize(("seconds", "band"), [(0.0, 0), (0.001, 0), (0.0011, 1), (2.5, 10), (2.6, 11)])
def test_a_bound_belongs_to_its_band(seconds: float, band: int) -> None:
    """As Prometheus has it: at most so many seconds."""
    assert EngineWork().after(1, 8, seconds).times.index(1) == band
    assert len(EngineWork().times) == len(FORWARD_BOUNDS_S) + 1


@pytest.mark.parametrize(("length", "band"), [(1, 0), (64, 0), (65, 1), (131_072, 11), (1_000_000, 12)])
def test_generations_are_told_apart_by_length(length: int, band: int) -> None:
    """What they held is added up in their band and in no other."""
    once = grown(NO_GROWTH, length=length, kv_tokens=length - 1, pages=3)
    twice = grown(once, length=length, kv_tokens=0, pages=2)

    assert twice[band] == GrowthBand(generations=2, tokens=2 * length, kv_tokens=length - 1, pages=5)
    assert [index for index, entry in enumerate(twice) if entry != GrowthBand()] == [band]
    assert len(twice) == len(GROWTH_BOUNDS) + 1
