"""Behaviour of `unmask.metrics.measured`."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry

from tests.metrics.reading import moved, read
from unmask.backend import Backend, CommitEvent, DoneEvent, Event, Request
from unmask.errors import QueueFullError
from unmask.metrics.generations import GenerationInstruments
from unmask.metrics.measured import MeasuredBackend
from unmask.testing.builders import make_generation
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.manual_clock import ManualClock
from unmask.testing.waiting import until
from unmask.types import Message, Outcome, Role

REQUEST = Request(model="tiny", messages=(Message(role=Role.USER, content="add 1 + 1"),))
WATCHED = replace(REQUEST, snapshots=True)


class Bench:
    """A measured fake and what it moved."""

    def __init__(self, fake: FakeBackend | None = None) -> None:
        self.fake = fake or FakeBackend()
        self.clock = ManualClock()
        self.registry = CollectorRegistry()
        self.backend: Backend = MeasuredBackend(
            self.fake, GenerationInstruments(self.registry, ("tiny", "nano")), self.clock
        )
        self._before = read(self.registry)

    def moved(self) -> dict[str, float]:
        """Return what has moved since the start."""
        return moved(self._before, read(self.registry))

    def outcomes(self) -> dict[str, float]:
        """Return how many generations ended in which way."""
        return {
            name.partition("outcome=")[2].rstrip("}"): value
            for name, value in self.moved().items()
            if name.startswith("unmask_generations_total")
        }


async def test_generation_is_passed_on_and_counted() -> None:
    """The caller gets what the backend gave, and it is counted once."""
    generation = make_generation("forty-two")
    bench = Bench(FakeBackend(generation=generation))

    assert await bench.backend.generate(REQUEST) is generation
    assert bench.outcomes() == {"completed": 1}
    assert bench.fake.requests == [REQUEST]


async def test_stream_is_passed_on_and_counted_once() -> None:
    """Events are those of the backend; first text and end count once each."""
    bench = Bench()
    events = [event async for event in bench.backend.stream(WATCHED)]
    expected = [event async for event in FakeBackend().stream(WATCHED)]

    assert events == expected
    assert bench.outcomes() == {"completed": 1}
    assert bench.moved()["unmask_time_to_first_text_seconds_count{model=tiny}"] == 1


async def test_first_text_is_timed_from_the_start_of_the_stream() -> None:
    """The clock runs while the steps before the first text are shown."""
    bench = Bench()
    async for event in bench.backend.stream(WATCHED):
        if not isinstance(event, CommitEvent | DoneEvent):
            bench.clock.advance(1)

    assert read(bench.registry)["unmask_time_to_first_text_seconds_sum{model=tiny}"] == 4


async def test_answer_without_text_has_no_first_one() -> None:
    """An empty commit shows nobody anything."""
    bench = Bench(FakeBackend(""))
    assert [event async for event in bench.backend.stream(REQUEST)]

    assert bench.outcomes() == {"completed": 1}
    assert "unmask_time_to_first_text_seconds_count{model=tiny}" not in bench.moved()


class Wordy(FakeBackend):
    """A backend whose answer comes in pieces, the first of them empty."""

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Yield the pieces."""
        for text in ("", "forty", "-two"):
            yield CommitEvent(text=text)
        yield DoneEvent(generation=make_generation("forty-two"))


async def test_only_the_first_text_is_timed() -> None:
    """A piece without text is none, and what follows the first is no first."""
    bench = Bench(Wordy())
    async for _ in bench.backend.stream(REQUEST):
        bench.clock.advance(1)
    found = read(bench.registry)

    assert found["unmask_time_to_first_text_seconds_count{model=tiny}"] == 1
    assert found["unmask_time_to_first_text_seconds_sum{model=tiny}"] == 1


async def test_cancelled_call_is_an_aborted_generation() -> None:
    """Whoever stops waiting ends the generation behind it, and it is counted."""
    bench = Bench(FakeBackend(gate=asyncio.Event()))
    call = asyncio.ensure_future(bench.backend.generate(REQUEST))
    await until(lambda: bool(bench.fake.requests))
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    assert bench.fake.aborted == [REQUEST]
    assert bench.moved() == {"unmask_generations_total{model=tiny,outcome=aborted}": 1}


async def test_closed_stream_is_an_aborted_generation() -> None:
    """Leaving in the middle aborts what is behind; leaving after the end changes nothing."""
    bench = Bench()
    async with aclosing(bench.backend.stream(WATCHED)) as events:
        await anext(events)
    left = bench.outcomes()
    async with aclosing(bench.backend.stream(REQUEST)) as events:
        async for event in events:
            if isinstance(event, DoneEvent):
                break

    assert left == {"aborted": 1}
    assert bench.fake.aborted[0] is WATCHED
    assert bench.outcomes() == {"aborted": 1, "completed": 1}


async def test_refusal_is_no_generation() -> None:
    """What the backend does not take is an error of the request, counted where requests are."""
    bench = Bench(FakeBackend(error=QueueFullError("full")))
    with pytest.raises(QueueFullError):
        await bench.backend.generate(REQUEST)
    with pytest.raises(QueueFullError):
        assert [event async for event in bench.backend.stream(REQUEST)]

    assert bench.moved() == {}


async def test_broken_backend_is_a_failed_generation() -> None:
    """An error that nobody foresaw is not lost."""
    bench = Bench(FakeBackend(error=RuntimeError("broken")))
    with pytest.raises(RuntimeError):
        await bench.backend.generate(REQUEST)
    with pytest.raises(RuntimeError):
        assert [event async for event in bench.backend.stream(REQUEST)]

    assert bench.outcomes() == {"failed": 2}


async def test_failed_generation_counts_as_it_says() -> None:
    """A generation that came back with a failure is one, in a stream too."""
    failed = make_generation("", outcome=Outcome.FAILED, finish_reason=None)
    bench = Bench(FakeBackend(generation=failed))
    await bench.backend.generate(REQUEST)
    assert [event async for event in bench.backend.stream(REQUEST)]

    assert bench.outcomes() == {"failed": 2}


async def test_all_else_is_the_backends_own() -> None:
    """Models, problems, load and drain are asked of the backend."""
    bench = Bench(FakeBackend(problems=("broken",)))
    await bench.backend.drain()

    assert bench.backend.models() == bench.fake.models()
    assert bench.backend.problems() == ("broken",)
    assert bench.backend.load() == bench.fake.load()
    assert bench.fake.drained
