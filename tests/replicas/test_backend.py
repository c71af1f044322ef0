"""Behaviour of `unmask.replicas.backend`."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import replace

import pytest

from tests.api.client import CHAT, chat_body, client_of, make_app
from tests.local.test_backend import REQUEST, served
from tests.replicas.prompts import make_request
from unmask.backend import CommitEvent, DoneEvent, Event, Request
from unmask.control.parts import ControlParts
from unmask.errors import DrainingError, InvalidRequestError, NoCapacityError, QueueFullError, UnknownModelError
from unmask.load import EngineState
from unmask.local.backend import LocalBackend
from unmask.replicas.backend import ReplicaBackend
from unmask.replicas.prompt import read_text
from unmask.routing import RouteReason
from unmask.testing.builders import make_generation, make_usage
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.fake_engine import FakeEngine
from unmask.testing.ledgers import MemoryLedger
from unmask.testing.tenants import FakeAuthenticator, make_principal
from unmask.testing.waiting import until
from unmask.types import ExitReason, Outcome

CRASHED = make_generation(
    "",
    outcome=Outcome.FAILED,
    finish_reason=None,
    usage=make_usage(steps_used=3, exit_reason=ExitReason.FAILED),
    error="the engine has stopped",
)


class Dying(FakeBackend):
    """A replica whose engine stops with its first request; where it ``tells``, some of an answer was told by then."""

    def __init__(self, *, tells: bool = False) -> None:
        super().__init__()
        self._tells = tells

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Stop, and say so as an engine does."""
        self.requests.append(request)
        if self._tells:
            yield CommitEvent(text="4")
        self.state = EngineState.STOPPED
        yield DoneEvent(generation=CRASHED)


def over(*backends: FakeBackend) -> ReplicaBackend:
    """Return a backend over replicas."""
    return ReplicaBackend({str(number): one for number, one in enumerate(backends, start=1)}, read_text)


def chats() -> Iterator[Request]:
    """Yield requests that belong to different replicas."""
    return (make_request(f"안녕 {number}") for number in range(100))


async def events_of(backend: ReplicaBackend, request: Request) -> list[Event]:
    """Return all events of a stream."""
    return [event async for event in backend.stream(request)]


def decisions(backend: ReplicaBackend) -> dict[str, dict[RouteReason, int]]:
    """Return what was decided for the first model."""
    return {one.name: {reason: count for reason, count in one.decisions if count} for one in backend.load()[0].replicas}


async def test_conversations_stay_and_others_spread() -> None:
    """Each conversation has its turns on one replica, and every replica has some."""
    replicas = FakeBackend(), FakeBackend(), FakeBackend()
    backend = over(*replicas)
    for number in range(12):
        for texts in ((f"{number}" + "x" * 200,), (f"{number}" + "x" * 200, "42", "더 말해 줘")):
            await backend.generate(make_request(*texts, session=f"s{number}"))

    homes = [{request.session for request in one.requests} for one in replicas]
    assert sum(map(len, homes)) == 12
    assert all(homes)
    assert sum(len(one.requests) for one in replicas) == 24


async def test_a_lost_request_is_answered_elsewhere_and_told_of_once() -> None:
    """Its engine stops with it; another one answers, and the steps of the lost one are nobody's."""
    dying, well = Dying(), FakeBackend("42")
    backend = over(dying, well)
    found = [await backend.generate(request) for request, _ in zip(chats(), range(12), strict=False)]

    assert len(dying.requests) == 1
    assert [one.text for one in found] == ["42"] * 12
    assert {one.usage.steps_used for one in found} == {4}
    assert decisions(backend)["2"][RouteReason.RETRY] == 1
    assert backend.problems() == ()


async def test_what_was_told_is_not_told_twice() -> None:
    """Once some of an answer was passed on its request ends as it does."""
    dying = Dying(tells=True)
    backend = over(dying)
    events = await events_of(backend, make_request("x"))

    assert events == [CommitEvent(text="4"), DoneEvent(generation=CRASHED)]
    backend = over(Dying(tells=True), Dying(tells=True))
    assert await events_of(backend, make_request("x")) == events


async def test_a_request_takes_no_more_than_two_replicas_with_it() -> None:
    """What may be the cause of it is not tried on all of them."""
    replicas = [Dying() for _ in range(4)]
    found = await over(*replicas).generate(make_request("x"))

    assert found == CRASHED
    assert sum(len(one.requests) for one in replicas) == 2


async def test_a_failure_of_the_request_itself_is_final() -> None:
    """Its replica goes on, so another would fail as well."""
    replicas = FakeBackend(generation=CRASHED), FakeBackend(generation=CRASHED)

    assert await over(*replicas).generate(make_request("x")) == CRASHED
    assert sum(len(one.requests) for one in replicas) == 1


@pytest.mark.parametrize("state", [EngineState.STUCK, EngineState.STOPPED])
async def test_a_replica_without_progress_is_passed_over(state: EngineState) -> None:
    """It is told of as such, while requests go on being answered; one that mends itself is back."""
    ill, well = FakeBackend(state=state), FakeBackend()
    backend = over(ill, well)
    for request, _ in zip(chats(), range(8), strict=False):
        await backend.generate(request)

    (load, _) = backend.load()
    assert (len(ill.requests), len(well.requests)) == (0, 8)
    assert load.state is EngineState.RUNNING
    assert [one.problem for one in load.replicas] == [f"its engine is {state}", None]
    ill.state = EngineState.RUNNING
    for request in chats():
        await backend.generate(request)
    assert ill.requests


async def test_without_any_replica_nothing_is_taken() -> None:
    """The reasons of all are told."""
    states = EngineState.STOPPED, EngineState.STUCK
    backend = over(*(FakeBackend(state=state, problems=(f"engine of tiny is {state}",)) for state in states))

    assert backend.problems() == ("replica 1: engine of tiny is stopped", "replica 2: engine of tiny is stuck")
    assert backend.load()[0].state is EngineState.STUCK
    with pytest.raises(NoCapacityError, match="no replica of tiny makes progress"):
        await backend.generate(make_request("x"))


async def test_a_full_replica_is_no_reason_to_refuse() -> None:
    """Another one is asked; only where none takes the request it is refused, as the last one says."""
    full, well = FakeBackend(error=QueueFullError("full")), FakeBackend()
    backend = over(full, well)
    for request, _ in zip(chats(), range(8), strict=False):
        await backend.generate(request)

    assert len(well.requests) == 8
    with pytest.raises(QueueFullError):
        await over(full, FakeBackend(error=QueueFullError("full"))).generate(make_request("x"))


async def test_a_wrong_request_is_refused_once() -> None:
    """No replica would take it."""
    wrong = InvalidRequestError("temperature", 9, "0 to 2", "Change it.")
    replicas = FakeBackend(error=wrong), FakeBackend(error=wrong)
    with pytest.raises(InvalidRequestError):
        await over(*replicas).generate(make_request("x"))

    assert sum(len(one.requests) for one in replicas) == 1
    with pytest.raises(UnknownModelError):
        await over(*replicas).generate(make_request("x", model="none"))


async def test_a_burst_is_shared() -> None:
    """Requests that are under way count, so that one prompt asked often at once is run by all."""
    gate = asyncio.Event()
    replicas = FakeBackend(gate=gate), FakeBackend(gate=gate)
    backend = over(*replicas)
    calls = [asyncio.create_task(backend.generate(make_request("x"))) for _ in range(8)]
    await until(lambda: sum(len(one.requests) for one in replicas) == 8)
    gate.set()
    await asyncio.gather(*calls)

    assert [len(one.requests) for one in replicas] == [4, 4]


async def test_leaving_frees_the_replica() -> None:
    """A caller that goes is no load any more, and its replica is told."""
    replicas = FakeBackend(gate=asyncio.Event()), FakeBackend(gate=asyncio.Event())
    backend = over(*replicas)
    async with aclosing(backend.stream(make_request("x", snapshots=True))) as events:
        await anext(events)
        assert backend.load()[0].running == 1

    assert sum(len(one.aborted) for one in replicas) == 1
    assert backend.load()[0].running == 0


async def test_numbers_are_those_of_all_replicas() -> None:
    """What a model is told to have is the sum of its replicas."""
    one, other = FakeBackend(), FakeBackend()
    backend = over(one, other)
    for request, _ in zip(chats(), range(6), strict=False):
        await backend.generate(request)
    (load, _) = backend.load()

    assert load.steps == sum(found.load()[0].steps for found in (one, other)) == 24
    assert (load.max_running, load.kv_pages) == (128, 128)
    assert len(load.queues) == 1
    assert load.replicas[0].prompt_tokens + load.replicas[1].prompt_tokens == 6 * 2
    assert backend.models() == one.models()


async def test_draining_ends_all() -> None:
    """Nothing new is taken, and every replica finishes what it has."""
    replicas = FakeBackend(), FakeBackend()
    backend = over(*replicas)
    await backend.drain()

    assert all(one.drained for one in replicas)
    with pytest.raises(DrainingError):
        await backend.generate(make_request("x"))


async def test_an_engine_that_dies_is_replaced(caplog: pytest.LogCaptureFixture) -> None:
    """Engines of our own: what was lost with one is run by the other, and booked once."""
    caplog.set_level(logging.CRITICAL)
    engines = FakeEngine(error=SystemExit("broken")), FakeEngine(error=SystemExit("broken"))
    backend = ReplicaBackend(
        {str(number): LocalBackend((served(engine),)) for number, engine in enumerate(engines, start=1)}, read_text
    )
    engines[1].error = None
    found = [await backend.generate(replace(REQUEST, session=f"s{number}")) for number in range(8)]
    states = [one.problem for one in backend.load()[0].replicas]
    await backend.drain()

    assert {one.outcome for one in found} == {Outcome.COMPLETED}
    assert len(engines[0].plans) == 1
    assert states == ["its engine is stopped", None]


async def test_a_lost_request_is_booked_once() -> None:
    """Over HTTP with a ledger: one row, of the steps of the replica that answered."""
    ledger = MemoryLedger()
    keys = FakeAuthenticator({"key": make_principal()})
    app = make_app(over(Dying(), FakeBackend(), FakeBackend()), parts=ControlParts(ledger=ledger), keys=keys)
    async with client_of(app) as client:
        for number in range(8):
            body = chat_body(prompt_cache_key=f"s{number}")
            response = await client.post(CHAT, json=body, headers={"authorization": "Bearer key"})
            assert response.status_code == 200

    assert len(ledger.reservations) == len(ledger.settlements) == 8
    assert [[one.steps for one in settlement.attempts] for settlement in ledger.settlements.values()] == [[4]] * 8
