"""Behaviour of `unmask.cluster.slot`, and of the engine's process behind it."""

import asyncio
from contextlib import aclosing
from dataclasses import replace
from itertools import count

import pytest

from tests.cluster.fakes import FakeLink
from tests.replicas.prompts import make_request
from unmask.backend import CommitEvent, DoneEvent, Generation, StepEvent
from unmask.cluster.link import Member
from unmask.cluster.slot import Slot
from unmask.errors import DrainingError, NoCapacityError, QueueFullError
from unmask.load import EngineState
from unmask.testing.builders import make_model
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.manual_clock import ManualClock
from unmask.testing.waiting import until
from unmask.types import Outcome

REQUEST = make_request("안녕하세요")


def make_slot() -> Slot:
    """Return a slot without an engine."""
    numbers = count()
    return Slot((make_model("tiny"), make_model("nano")), ManualClock(100.0), lambda: f"call {next(numbers)}")


async def held(link: FakeLink, slot: Slot | None = None) -> Slot:
    """Return a slot that has heard of its engine."""
    slot = slot or make_slot()
    slot.hold(Member(name="1", link=link, status=await link.status()))
    return slot


async def test_answers_as_the_engine_does() -> None:
    """Steps, text and the generation come through in order."""
    slot = await held(FakeLink(FakeBackend("마흔둘")))
    events = [event async for event in slot.stream(replace(REQUEST, snapshots=True))]

    assert [type(event) for event in events] == [StepEvent] * 4 + [CommitEvent, DoneEvent]
    assert isinstance(events[-1], DoneEvent)
    assert events[-1].generation.text == "마흔둘"


async def test_refusals_are_raised() -> None:
    """What the engine refuses a request with is raised at the gateway."""
    slot = await held(FakeLink(FakeBackend(error=QueueFullError("full", retry_after_s=3.0))))
    with pytest.raises(QueueFullError, match="full") as caught:
        await slot.generate(REQUEST)

    assert caught.value.retry_after_s == 3.0


async def test_bugs_of_an_engine_are_raised() -> None:
    """An error that nobody foresaw is no loss of the replica."""
    slot = await held(FakeLink(FakeBackend(error=ZeroDivisionError("bug"))))
    with pytest.raises(ZeroDivisionError):
        await slot.generate(REQUEST)

    assert slot.load()[0].state is EngineState.RUNNING


async def test_leaving_aborts_and_tells_what_was_taken() -> None:
    """A client that leaves ends the call at the engine, and is told what it took before the stream is closed."""
    backend = FakeBackend(gate=asyncio.Event())
    slot = await held(FakeLink(backend))
    left: list[Generation] = []
    async with aclosing(slot.stream(replace(REQUEST, snapshots=True, left=left.append))) as events:
        await anext(events)

    assert len(backend.aborted) == 1
    assert [one.outcome for one in left] == [Outcome.ABORTED]
    assert left[0].usage.steps_used >= 1


async def test_cancelling_aborts() -> None:
    """A cancelled call ends at the engine too, and is told of."""
    backend = FakeBackend(gate=asyncio.Event())
    slot = await held(FakeLink(backend))
    left: list[Generation] = []
    call = asyncio.create_task(slot.generate(replace(REQUEST, left=left.append)))
    await until(lambda: bool(backend.requests))
    call.cancel()
    await asyncio.wait((call,))

    assert (len(backend.aborted), len(left)) == (1, 1)


async def test_a_lost_engine_ends_its_request_as_failed_with_nothing_taken() -> None:
    """Nobody is charged for what a killed process did, and nothing more is sent there."""
    backend = FakeBackend(gate=asyncio.Event())
    link = FakeLink(backend)
    slot = await held(link)
    call = asyncio.create_task(slot.generate(REQUEST))
    await until(lambda: bool(backend.requests))
    link.kill()
    generation = await call

    assert generation.outcome is Outcome.FAILED
    assert (generation.usage.steps_used, generation.usage.steps_known) == (0, False)
    assert slot.load()[0].state is EngineState.STOPPED
    assert slot.problems() == ("it was lost",)


async def test_a_lost_engine_is_back_once_it_has_started_again() -> None:
    """A status that was on its way when it was lost does not count, one of a new start does."""
    link = FakeLink(FakeBackend())
    slot = await held(link)
    late = Member(name="1", link=link, status=await link.status())
    link.kill()
    await slot.generate(REQUEST)
    slot.hold(late)
    assert slot.load()[0].state is EngineState.STOPPED

    link.restart()
    await held(link, slot)
    assert slot.load()[0].state is EngineState.RUNNING
    assert (await slot.generate(REQUEST)).outcome is Outcome.COMPLETED


async def test_an_empty_slot_has_no_load_and_takes_nothing() -> None:
    """Where no engine is, there is nothing to count, and a request is refused for the time being."""
    slot = make_slot()
    with pytest.raises(NoCapacityError):
        await slot.generate(REQUEST)

    assert slot.load() == ()


async def test_draining_a_gateway_leaves_the_engine_to_others() -> None:
    """What runs is finished, and the engine goes on."""
    backend = FakeBackend(gate=(gate := asyncio.Event()))
    slot = await held(FakeLink(backend))
    call = asyncio.create_task(slot.generate(REQUEST))
    await until(lambda: bool(backend.requests))
    draining = asyncio.create_task(slot.drain())
    await asyncio.sleep(0)
    with pytest.raises(DrainingError):
        await slot.generate(REQUEST)
    gate.set()
    await draining

    assert (await call).outcome is Outcome.COMPLETED
    assert not backend.drained
