"""Behaviour of `unmask.api.event_buffer`."""

import pytest

from unmask.api.event_buffer import ChoiceEvent, EventBuffer
from unmask.backend import CommitEvent, StepEvent


def step(number: int) -> StepEvent:
    """Return a draft."""
    return StepEvent(canvas=0, step=number, max_steps=1000, pieces=())


async def test_events_come_back_in_their_order() -> None:
    """What is put is taken once."""
    buffer = EventBuffer()
    buffer.put(1, CommitEvent(text="a"))
    buffer.put(0, CommitEvent(text="b"))

    assert await buffer.wait(60)
    assert buffer.take() == [
        ChoiceEvent(index=1, event=CommitEvent(text="a")),
        ChoiceEvent(index=0, event=CommitEvent(text="b")),
    ]
    assert buffer.take() == []


async def test_only_the_last_draft_of_a_choice_waits() -> None:
    """A thousand steps that nobody takes are one; text between them keeps its place."""
    buffer = EventBuffer()
    for number in range(1000):
        buffer.put(0, step(number))
        buffer.put(1, step(number))
        if number == 500:
            buffer.put(0, CommitEvent(text="a"))

    assert [(one.index, one.event) for one in buffer.take()] == [
        (0, CommitEvent(text="a")),
        (0, step(999)),
        (1, step(999)),
    ]


async def test_waiting_has_an_end() -> None:
    """Silence is told apart from events, before and after some."""
    buffer = EventBuffer()
    assert not await buffer.wait(0)
    buffer.put(0, step(1))
    assert await buffer.wait(0)
    buffer.take()

    assert not await buffer.wait(0)


async def test_the_end_is_for_good() -> None:
    """Once all is said there is nothing to wait for, and what went wrong is raised when it is asked for."""
    buffer = EventBuffer()
    buffer.put(0, CommitEvent(text="a"))
    buffer.end(ZeroDivisionError())

    assert buffer.ended
    assert len(buffer.take()) == 1
    assert await buffer.wait(0)
    with pytest.raises(ZeroDivisionError):
        buffer.check()


async def test_a_good_end_raises_nothing() -> None:
    """Without an error there is nothing to check."""
    buffer = EventBuffer()
    buffer.end(None)
    buffer.check()

    assert await buffer.wait(0)
