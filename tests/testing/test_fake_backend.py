"""Behaviour of `unmask.testing.fake_backend`."""

import asyncio
from dataclasses import replace

import pytest

from unmask.backend import Backend, CommitEvent, DoneEvent, ExitRecord, Request, StepEvent
from unmask.errors import DrainingError
from unmask.testing.exits import make_plan
from unmask.testing.fake_backend import STEPS, FakeBackend
from unmask.types import ExitAction, ExitReason, Message, Role

REQUEST = Request(model="tiny", messages=(Message(role=Role.USER, content="add 1 + 1"),))
WATCHED = Request(model="tiny", messages=REQUEST.messages, snapshots=True)


def test_fake_is_a_backend() -> None:
    """The type checker holds the fake to the protocol."""
    backend: Backend = FakeBackend()

    assert [model.name for model in backend.models()] == ["tiny", "nano"]


async def test_stream_shows_steps_then_the_text_then_the_end() -> None:
    """Events come in the order of a real backend, and the text is revealed over the steps."""
    events = [event async for event in FakeBackend("012+030").stream(WATCHED)]
    steps = [event for event in events if isinstance(event, StepEvent)]

    assert [type(event) for event in events] == [StepEvent] * STEPS + [CommitEvent, DoneEvent]
    assert [sum(piece.fixed for piece in step.pieces) for step in steps] == [1, 3, 5, 7]


async def test_stream_shows_no_steps_unless_asked() -> None:
    """Snapshots are for those who want them."""
    events = [event async for event in FakeBackend().stream(REQUEST)]

    assert [type(event) for event in events] == [CommitEvent, DoneEvent]


async def test_answer_may_depend_on_the_request() -> None:
    """A function answers each request in its own way."""
    backend = FakeBackend(lambda request: request.messages[0].content.upper())

    assert (await backend.generate(REQUEST)).text == "ADD 1 + 1"


async def test_cancelling_is_noted() -> None:
    """A cancelled request counts as aborted, a finished one does not."""
    backend = FakeBackend(gate=asyncio.Event())
    task = asyncio.create_task(backend.generate(REQUEST))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert backend.aborted == [REQUEST]


async def test_drain_waits_and_refuses() -> None:
    """Draining ends when what runs has ended; nothing new is taken meanwhile."""
    gate = asyncio.Event()
    backend = FakeBackend(gate=gate)
    task = asyncio.create_task(backend.generate(REQUEST))
    await asyncio.sleep(0)
    drain = asyncio.create_task(backend.drain())
    await asyncio.sleep(0)
    with pytest.raises(DrainingError):
        await backend.generate(REQUEST)
    gate.set()
    await drain

    assert task.done()
    assert backend.drained


@pytest.mark.parametrize("action", ExitAction)
async def test_exits_are_told_as_a_real_backend_tells_them(action: ExitAction) -> None:
    """A rule that stops gives its text and steps as the answer; one that observes gives the answer and the record."""
    backend = FakeBackend("full", exit=ExitRecord(steps=2, text="part"))
    asking = await backend.generate(replace(REQUEST, exit=make_plan(action)))
    plain = await backend.generate(REQUEST)
    stopped = action is ExitAction.STOP

    assert asking.exit == ExitRecord(steps=2, text="part")
    assert (asking.text, asking.usage.steps_used) == (("part", 2) if stopped else ("full", STEPS))
    assert (asking.usage.exit_reason is ExitReason.EARLY_EXIT) is stopped
    assert (plain.text, plain.exit) == ("full", None)


async def test_exits_may_depend_on_the_request() -> None:
    """A function may also say that a rule was never met."""
    backend = FakeBackend("full", exit=lambda request: None)

    assert (await backend.generate(replace(REQUEST, exit=make_plan()))).exit is None
