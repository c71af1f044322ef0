"""Behaviour of `unmask.api.running`."""

import asyncio

import pytest

from unmask.api.running import Running
from unmask.backend import Generation
from unmask.errors import DrainingError, InvalidRequestError, QueueFullError
from unmask.testing.builders import make_generation


def pending() -> asyncio.Future[Generation]:
    """Return a generation that has not ended."""
    return asyncio.get_running_loop().create_future()


async def test_limit_counts_what_is_tracked() -> None:
    """One more than the limit is refused, and a place is free again once a generation has left."""
    running = Running(1)
    with running.track(pending()), pytest.raises(QueueFullError, match="1 requests"):
        running.check()

    running.check()


async def test_tracking_checks_again() -> None:
    """What passed a check earlier is refused once the places are taken, and is not counted."""
    running = Running(1)
    with running.track(pending()):
        with pytest.raises(QueueFullError), running.track(pending()):
            raise AssertionError("never run")
        assert running.count == 1
    assert running.count == 0


async def test_full_is_a_reason_for_as_long_as_it_lasts() -> None:
    """With every place taken the server says so, and no longer once one is free."""
    running = Running(1)
    with running.track(pending()):
        full = running.reasons()

    assert (full, running.reasons(), running.limit) == (("queue full",), (), 1)


async def test_several_count_each_and_are_taken_together() -> None:
    """All of a call's generations are counted, or none of them."""
    running = Running(3)
    with running.track(pending(), pending()):
        with pytest.raises(QueueFullError, match="2 requests"), running.track(pending(), pending()):
            raise AssertionError("never run")
        with running.track(pending()):
            assert running.count == 3
        assert running.count == 2
    assert running.count == 0


def test_more_than_ever_fit_are_a_mistake() -> None:
    """Coming back later would not help."""
    with pytest.raises(InvalidRequestError, match="at most 3") as caught:
        Running(3).check(4)

    assert caught.value.param == "n"


async def test_what_has_ended_is_not_cut_off() -> None:
    """A generation whose answer is being sent is not stopped, nor counted as such."""
    running = Running(2)
    future = pending()
    future.set_result(make_generation())
    with running.track(future, pending()):
        assert running.cut_off() == 1


async def test_cut_off_cancels_what_is_tracked() -> None:
    """Every tracked generation is cancelled and counted."""
    running = Running(5)
    future = pending()
    with running.track(future):
        assert running.cut_off() == 1

    assert future.cancelled()
    assert running.cut_off() == 0


def test_drain_is_for_good() -> None:
    """From the start of a drain every check fails, with the reason told."""
    running = Running(5)
    assert (running.reasons(), running.is_draining) == ((), False)
    running.begin_drain()

    assert (running.reasons(), running.is_draining) == (("draining",), True)
    with pytest.raises(DrainingError):
        running.check()


async def test_a_flood_in_one_class_leaves_the_others_their_places() -> None:
    """Each class has the limit to itself; the server is full only once all of them are."""
    running = Running(1)
    with running.track(pending(), service_class="batch"):
        with pytest.raises(QueueFullError, match="1 requests of class batch"):
            running.check(service_class="batch")
        with running.track(pending(), service_class="interactive"):
            assert running.count == 2
            assert running.reasons() == ("queue full",)
        assert running.reasons() == ()
