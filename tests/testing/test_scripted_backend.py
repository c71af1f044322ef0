"""Behaviour of `unmask.testing.scripted_backend` and `unmask.testing.speech`."""

import asyncio
from contextlib import aclosing

import pytest

from unmask.backend import Backend, CommitEvent, DoneEvent, Request, StepEvent
from unmask.testing.scripted_backend import ScriptedBackend
from unmask.testing.speech import STEPS, speak
from unmask.types import Message, Role

REQUEST = Request(model="tiny", messages=(Message(role=Role.USER, content="say it"),), snapshots=True, top_logprobs=1)
TEXT = "안녕 🙂"


def test_it_is_a_backend() -> None:
    """The type checker holds it to the protocol."""
    backend: Backend = ScriptedBackend(lambda request, _: speak(request, TEXT))

    assert [model.name for model in backend.models()] == ["tiny"]


@pytest.mark.parametrize("canvas", [1, 2, 3, 100])
@pytest.mark.parametrize("sizes", [(1,), (2, 3)])
async def test_speech_splits_characters_and_joins_to_the_text(canvas: int, sizes: tuple[int, ...]) -> None:
    """Each canvas has its steps and one piece of text; pieces and log-probabilities join to those of the end."""
    events = [
        event
        async for event in ScriptedBackend(lambda r, _: speak(r, TEXT, canvas=canvas, sizes=sizes)).stream(REQUEST)
    ]
    commits = [event for event in events if isinstance(event, CommitEvent)]
    last = events[-1]
    assert isinstance(last, DoneEvent)

    assert "".join(commit.text for commit in commits) == last.generation.text == TEXT
    assert sum((commit.logprobs for commit in commits), ()) == last.generation.logprobs
    assert b"".join(one.chosen.data for one in last.generation.logprobs).decode() == TEXT
    assert sum(isinstance(event, StepEvent) for event in events) == STEPS * len(commits)
    assert last.generation.usage.canvases == len(commits)


def test_speech_says_no_more_than_is_asked_for() -> None:
    """Snapshots and log-probabilities are for those who want them."""
    plain = speak(Request(model="tiny", messages=REQUEST.messages), TEXT)

    assert not any(isinstance(event, StepEvent) for event in plain)
    assert not any(event.logprobs for event in plain if isinstance(event, CommitEvent))


async def test_errors_are_raised_and_open_requests_counted() -> None:
    """What is open is known while it is, and how it ended."""
    backend = ScriptedBackend(lambda _, earlier: [ZeroDivisionError()] if earlier else [0.0, asyncio.Event()])
    waiting = asyncio.create_task(backend.generate(REQUEST))
    await asyncio.sleep(0.01)
    with pytest.raises(ZeroDivisionError):
        await backend.generate(REQUEST)
    open_before = backend.open
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert (open_before, backend.open, backend.aborted, len(backend.requests)) == (1, 0, 1, 2)


async def test_closing_a_stream_aborts_it() -> None:
    """A stream that is left in the middle counts as aborted."""
    backend = ScriptedBackend(lambda request, _: speak(request, TEXT))
    async with aclosing(backend.stream(REQUEST)) as events:
        await anext(events)

    assert (backend.open, backend.aborted) == (0, 1)
