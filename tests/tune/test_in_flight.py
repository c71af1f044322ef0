"""Behaviour of `unmask.tune.in_flight`."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.tune.in_flight import run_in_flight


@given(st.integers(0, 20), st.integers(1, 5))
def test_all_are_done_and_never_too_many_at_a_time(count: int, most: int) -> None:
    """Begun in their order."""
    begun: list[int] = []
    running: list[int] = []
    peak: list[int] = [0]

    async def work(job: int) -> None:
        begun.append(job)
        running.append(job)
        peak.append(len(running))
        await asyncio.sleep(0)
        running.remove(job)

    asyncio.run(run_in_flight(range(count), work, most))

    assert begun == list(range(count))
    assert max(peak) == min(count, most)


def test_the_first_failure_ends_the_others() -> None:
    """It is raised as it was, and nothing new is begun."""
    begun: list[int] = []

    async def work(job: int) -> None:
        begun.append(job)
        if job == 1:
            raise KeyError(job)
        await asyncio.sleep(60)

    with pytest.raises(KeyError):
        asyncio.run(run_in_flight(range(9), work, 2))
    assert begun == [0, 1]
