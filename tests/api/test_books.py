"""Calls and the ledger: what is booked of each, when, and what a client is told where it cannot be."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest
from starlette.types import ASGIApp

from tests.api.client import CHAT, COMPLETIONS, chat_body, client_of, make_app
from tests.api.raw_client import RawClient
from tests.api.sse_events import SseStream, parse_stream
from tests.ledger.databases import Databases, World
from unmask.api.running import Running
from unmask.backend import Backend, CommitEvent, DoneEvent, Request
from unmask.control.parts import ControlParts
from unmask.control.refusals import A_SECOND
from unmask.errors import DeadlineError, QueueFullError
from unmask.ledger.errors import LedgerUnavailableError, ReservationLostError
from unmask.ledger.ledger import Ledger
from unmask.ledger.price import UNIT
from unmask.ledger.settlement import Ending, Purpose
from unmask.ledger.tables import ENDS, OPEN, REQUESTS
from unmask.policy.policy import AtCap
from unmask.tenants.quota import parse_quota
from unmask.testing.budget_policies import make_class_policy
from unmask.testing.builders import make_generation, make_usage
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.ledgers import MemoryLedger
from unmask.testing.policies import FakePolicies, make_active
from unmask.testing.scripted_backend import Line, ScriptedBackend
from unmask.testing.speech import speak
from unmask.testing.tenants import FakeAuthenticator, make_principal
from unmask.testing.waiting import until
from unmask.types import ExitReason, Outcome

KEY = {"authorization": "Bearer key"}
NUMBER = {"kind": "numeric", "minimum": 10}


def site(
    ledger: Ledger, backend: Backend | None = None, *, limits: tuple[str, ...] = (), running: Running | None = None
) -> ASGIApp:
    """Return an application with a ledger, and with a key whose tenant has limits."""
    principal = make_principal(tenant_quotas=tuple(map(parse_quota, limits)))
    keys = FakeAuthenticator({"key": principal})
    return make_app(backend, parts=ControlParts(ledger=ledger), keys=keys, running=running)


async def post(app: ASGIApp, path: str = CHAT, headers: dict[str, str] | None = None, **changes: Any) -> httpx.Response:  # noqa: ANN401 - any field
    """Send one request with the key."""
    body = chat_body(**changes) if path == CHAT else changes
    async with client_of(app) as client, asyncio.timeout(20):  # type: ignore[arg-type]
        return await client.post(path, json=body, headers=KEY | (headers or {}))


def failing(call: str, error: Exception) -> MemoryLedger:
    """Return a ledger that cannot do one thing."""

    def before(name: str) -> None:
        if name == call:
            raise error

    return MemoryLedger(before)


def stream_of(response: httpx.Response) -> SseStream:
    """Return the events of a stream."""
    assert response.headers["content-type"].startswith("text/event-stream")
    return parse_stream(response.content)


# --- the promise ---


@pytest.mark.parametrize("stream", [False, True])
async def test_a_reservation_is_durable_before_anything_is_submitted(stream: bool) -> None:
    """Whole and streamed: while it is not, the backend has heard of nothing."""
    backend = FakeBackend()

    def before(name: str) -> None:
        assert bool(backend.requests) == (name == "settle")

    ledger = MemoryLedger(before)
    answer = await post(site(ledger, backend), stream=stream)

    assert answer.status_code == 200
    assert (len(ledger.reservations), len(ledger.settlements)) == (1, 1)


@pytest.mark.parametrize("stream", [False, True])
async def test_what_cannot_be_reserved_does_not_run(stream: bool) -> None:
    """The client is told to come again, in an answer of its own."""
    backend = FakeBackend()
    ledger = failing("reserve", LedgerUnavailableError("gone", retry_after_s=1))
    answer = await post(site(ledger, backend), stream=stream)

    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")
    assert backend.requests == []


@pytest.mark.parametrize("error", [LedgerUnavailableError("gone"), ReservationLostError("lost")])
async def test_a_whole_answer_that_cannot_be_settled_is_an_error(error: Exception) -> None:
    """Not a word of it goes out."""
    answer = await post(site(failing("settle", error), FakeBackend("secret")))

    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")
    assert b"secret" not in answer.content


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("detail", ["committed", "snapshots", "verified"])
async def test_the_last_chunk_of_a_stream_that_cannot_be_settled_is_withheld(detail: str, n: int) -> None:
    """An error ends it: no choice has a finish reason, and there is neither usage nor the mark of success."""
    ledger = failing("settle", LedgerUnavailableError("gone"))
    options: dict[str, Any] = {"diffusion": {"stream": detail}, "stream_options": {"include_usage": True}, "n": n}
    answer = await post(site(ledger), stream=True, **options)

    found = stream_of(answer)
    assert not found.done
    assert found.events[-1].value["error"]["code"] == "unavailable"
    assert all(choice["finish_reason"] is None for chunk in found.chunks for choice in chunk["choices"])
    assert all(chunk["usage"] is None for chunk in found.chunks)


async def test_the_end_of_a_stream_waits_for_its_settlement() -> None:
    """Text goes out before; the finish reason, usage and the mark of success after."""
    seen: list[bytes] = []
    client = RawClient(json.dumps(chat_body(stream=True, diffusion={"stream": "committed"})).encode())
    ledger = MemoryLedger(lambda name: seen.append(client.text) if name == "settle" else None)
    async with asyncio.timeout(5):
        await client.call(make_app(parts=ControlParts(ledger=ledger)))

    assert b'"finish_reason":"stop"' not in seen[0]
    assert b"[DONE]" not in seen[0]
    assert client.text.endswith(b"data: [DONE]\n\n")


# --- what is told ---


async def test_an_answer_says_what_it_cost_and_how_limits_stand(world: World) -> None:
    """In usage and in headers; a stream in usage, and of limits in its headers."""
    async with world.ledger() as ledger:
        app = site(ledger, limits=("requests=9/1d", "cost=25/1d"))
        whole = await post(app)
        streamed = await post(app, stream=True, stream_options={"include_usage": True})

    cost = whole.json()["usage"]["cost"]
    assert cost == float(whole.headers["x-unmask-cost"]) > 0
    assert whole.headers["x-ratelimit-remaining-requests"] == "8"
    assert streamed.headers["x-ratelimit-remaining-requests"] == "7"
    assert stream_of(streamed).chunks[-1]["usage"]["cost"] == cost
    assert "x-unmask-cost" not in streamed.headers


async def test_without_a_ledger_nothing_is_told_of_costs() -> None:
    """As before."""
    answer = await post(make_app(keys=FakeAuthenticator({"key": make_principal()})))

    assert "cost" not in answer.json()["usage"]
    assert not [name for name in answer.headers if name.startswith(("x-ratelimit", "x-unmask-cost"))]


# --- what is booked ---


async def test_a_call_is_booked_to_whom_it_is_of() -> None:
    """Tenant, key, user and tags; all choices are one request with an attempt each."""
    ledger = MemoryLedger()
    await post(site(ledger), n=2, user="ann", metadata={"team": "blue"}, headers={"x-request-id": "mine"})

    (reservation,) = ledger.reservations.values()
    owner = reservation.owner
    assert (owner.tenant, owner.key, owner.user, owner.tags) == ("acme", "aaaaaaaaaaaa", "ann", ("team=blue",))
    assert (reservation.request_id, reservation.model, reservation.task) == ("mine", "tiny", "default")
    (settlement,) = ledger.settlements.values()
    assert (settlement.outcome, settlement.accepted, settlement.billed) == (Outcome.COMPLETED, True, True)
    assert [(one.purpose, one.steps, one.token_steps) for one in settlement.attempts] == [(Purpose.ANSWER, 4, 64)] * 2
    assert reservation.steps >= sum(one.steps for one in settlement.attempts)


async def test_a_search_is_booked_apart_from_its_answer() -> None:
    """One generation is the answer, the others are search; all of them were reserved."""
    ledger = MemoryLedger()
    await post(site(ledger), diffusion={"search": "candidates", "width": 3})

    (settlement,) = ledger.settlements.values()
    booked = [(one.purpose, one.steps) for one in settlement.attempts]
    assert booked == [(Purpose.ANSWER, 4), (Purpose.SEARCH, 4), (Purpose.SEARCH, 4)]
    (reservation,) = ledger.reservations.values()
    assert reservation.steps >= sum(one.steps for one in settlement.attempts)


async def test_streamed_requests_with_usage_have_names_of_their_own() -> None:
    """Whatever clients call them: none takes the place of another."""
    ledger = MemoryLedger()
    app = site(ledger)
    for _ in range(3):
        await post(app, stream=True, stream_options={"include_usage": True}, headers={"x-request-id": "same"})

    assert len(ledger.settlements) == 3
    assert {one.request_id for one in ledger.reservations.values()} == {"same"}


async def test_results_are_booked_by_name_whatever_order_they_come_in() -> None:
    """The first to be asked is the last to be answered, and each is booked to its own user."""
    gates = {"one": asyncio.Event(), "two": asyncio.Event()}

    def script(request: Request, _: int) -> list[Line]:
        name = request.messages[0].content
        return [gates[name], *speak(request, "x" * (4 if name == "one" else 40))]

    backend, ledger = ScriptedBackend(script), MemoryLedger()
    app = site(ledger, backend)
    calls = [asyncio.create_task(post(app, messages=[{"role": "user", "content": name}], user=name)) for name in gates]
    await until(lambda: backend.open == 2)
    gates["two"].set()
    await calls[1]
    gates["one"].set()
    await calls[0]

    steps = {
        ledger.reservations[name].owner.user: settlement.attempts[0].steps
        for name, settlement in ledger.settlements.items()
    }
    assert steps == {"one": 2, "two": 20}


async def test_a_failed_generation_is_the_platforms() -> None:
    """Its steps are booked, and nobody pays for them."""
    usage = make_usage(steps_used=3, exit_reason=ExitReason.FAILED)
    failed = make_generation("", outcome=Outcome.FAILED, finish_reason=None, usage=usage, error="broken")
    ledger = MemoryLedger()
    answer = await post(site(ledger, FakeBackend(generation=failed)))

    assert answer.status_code == 500
    (settlement,) = ledger.settlements.values()
    assert (settlement.outcome, settlement.billed, settlement.reason) == (Outcome.FAILED, False, "generation_failed")
    assert [one.steps for one in settlement.attempts] == [3]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_request_that_its_class_fails_is_billed(stream: bool) -> None:
    """It is booked before the error goes out, with all that it took."""
    spent = make_generation(usage=make_usage(steps_used=16, exit_reason=ExitReason.MAX_STEPS))
    classes = (make_class_policy(max_steps=16, at_cap=AtCap.FAIL, re_expansions=0),)
    ledger = MemoryLedger()
    parts = ControlParts(policies=FakePolicies(make_active(classes=classes)), ledger=ledger)
    async with client_of(make_app(FakeBackend(generation=spent), parts=parts)) as client:
        await client.post(CHAT, json=chat_body(stream=stream))

    (settlement,) = ledger.settlements.values()
    assert (settlement.outcome, settlement.billed, settlement.reason) == (Outcome.FAILED, True, "budget_spent")
    assert settlement.cap_applied
    assert [one.steps for one in settlement.attempts] == [16]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("code", "re_expansions", "verify"), [("budget_spent", 0, []), ("verification_failed", 1, [NUMBER])]
)
async def test_the_error_of_a_class_says_what_was_charged(
    world: World, code: str, re_expansions: int, verify: list[object], stream: bool
) -> None:
    """In usage, beside its steps, and as the books have it; without a ledger it says nothing of costs."""

    def script(request: Request, _: int) -> list[Line]:
        *events, done = speak(request, "7")
        assert isinstance(done, DoneEvent)
        reason = done.generation.usage.exit_reason if verify else ExitReason.MAX_STEPS
        usage = replace(done.generation.usage, exit_reason=reason)
        return [*events, DoneEvent(generation=replace(done.generation, usage=usage))]

    policies = FakePolicies(
        make_active(classes=(make_class_policy(max_steps=16, at_cap=AtCap.FAIL, re_expansions=re_expansions),))
    )
    body = chat_body(stream=stream, diffusion={"verify": verify} if verify else {})
    told = []
    async with world.ledger() as ledger:
        for parts in (ControlParts(policies=policies, ledger=ledger), ControlParts(policies=policies)):
            async with client_of(make_app(ScriptedBackend(script), parts=parts)) as client:
                told.append(await client.post(CHAT, json=body))
    booked, unbooked = (one.json() if one.status_code == 422 else stream_of(one).events[-1].value for one in told)

    assert booked["error"]["code"] == unbooked["error"]["code"] == code
    (end,) = world.rows(ENDS)
    assert booked["usage"]["cost"] == end["cost"] / UNIT > 0
    assert "cost" not in unbooked["usage"]


# --- clients that vanish ---


async def test_a_client_that_leaves_pays_for_what_was_executed_and_no_more() -> None:
    """Whole: two steps of many were told when it hung up."""
    ledger = MemoryLedger()
    backend = ScriptedBackend(lambda *_: [CommitEvent(text="a"), CommitEvent(text="b"), asyncio.Event()])
    client = RawClient(json.dumps(chat_body()).encode())
    call = asyncio.create_task(client.call(make_app(backend, parts=ControlParts(ledger=ledger))))
    await until(lambda: backend.open == 1)
    for _ in range(5):
        await asyncio.sleep(0)
    client.hung_up.set()
    await call

    (settlement,) = ledger.settlements.values()
    assert (settlement.outcome, settlement.reason, settlement.billed) == (Outcome.ABORTED, "client_gone", True)
    assert [one.steps for one in settlement.attempts] == [2]


async def test_a_client_that_leaves_before_the_first_step_pays_nothing() -> None:
    """Zero bytes, zero steps."""
    ledger = MemoryLedger()
    backend = ScriptedBackend(lambda *_: [asyncio.Event()])
    client = RawClient(json.dumps(chat_body(stream=True)).encode())
    call = asyncio.create_task(client.call(make_app(backend, parts=ControlParts(ledger=ledger))))
    await until(lambda: backend.open == 1)
    client.hung_up.set()
    await call

    (settlement,) = ledger.settlements.values()
    assert [one.steps for one in settlement.attempts] == [0]
    assert settlement.outcome is Outcome.ABORTED


async def test_hanging_up_at_any_message_leaves_no_reservation() -> None:
    """Through every layer of the application a client's going away is seen, and what it reserved is settled once."""
    body = json.dumps(chat_body(n=2, stream=True, diffusion={"stream": "snapshots"})).encode()

    def leaving_at(place: int) -> Callable[[RawClient], None]:
        return lambda client: client.hung_up.set() if len(client.sent) == place else None

    place, sent = 0, 1
    while place < sent:
        place += 1
        ledger, backend = MemoryLedger(), ScriptedBackend(lambda request, _: list(speak(request, "twelve bytes")))
        client = RawClient(body, on_message=leaving_at(place))
        async with asyncio.timeout(5):
            await client.call(make_app(backend, parts=ControlParts(ledger=ledger)))
        sent = len(client.sent)

        assert set(ledger.settlements) == set(ledger.reservations) == {"request-1"}
        assert backend.open == 0
    assert place > 5


@pytest.mark.parametrize("stage", ["reserve", "settle"])
async def test_a_client_that_leaves_while_it_is_booked_leaves_one_outcome(world: World, stage: str) -> None:
    """The database is slow: what was being reserved is given back, what was being settled is settled."""
    async with world.ledger() as ledger:
        slow = Slow(ledger, stage)
        client = RawClient(json.dumps(chat_body()).encode())
        call = asyncio.create_task(client.call(make_app(parts=ControlParts(ledger=slow))))
        await slow.reached.wait()
        client.hung_up.set()
        await call

    assert world.count(OPEN) == 0
    assert world.verify().faults == ()
    endings = [row["ending"] for row in world.rows(ENDS)]
    assert endings == (["completed"] if stage == "settle" else [])


class Slow:
    """A ledger whose caller is told to leave when a call is under way."""

    def __init__(self, ledger: Ledger, stage: str) -> None:
        self._ledger = ledger
        self._stage = stage
        self.reached = asyncio.Event()

    @property
    def fails(self) -> bool:
        """Never: it is only slow."""
        return False

    async def reserve(self, *booking: Any) -> Any:  # noqa: ANN401 - as the ledger takes it
        """Reserve, or wait for ever before."""
        if self._stage == "reserve":
            self.reached.set()
            await asyncio.Event().wait()
        return await self._ledger.reserve(*booking)

    async def settle(self, settlement: Any) -> Any:  # noqa: ANN401 - as the ledger takes it
        """Settle, and wait for ever behind it."""
        settled = await self._ledger.settle(settlement)
        if self._stage == "settle":
            self.reached.set()
            await asyncio.Event().wait()
        return settled

    async def reject(self, rejection: Any) -> None:  # noqa: ANN401 - as the ledger takes it
        """Reject."""
        await self._ledger.reject(rejection)

    async def close(self) -> None:
        """Leave it open."""


# --- refusals ---


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"model": "unheard-of"}, "model_not_found"),
        ({"diffusion": {"service_class": "gold"}}, "invalid_value"),
        ({"unheard-of": 1}, "unknown_parameter"),
    ],
)
async def test_a_request_that_is_refused_is_booked_as_rejected(changes: dict[str, Any], reason: str) -> None:
    """With the word that the client is told."""
    ledger = MemoryLedger()
    answer = await post(site(ledger), **changes)

    assert answer.json()["error"]["code"] == reason
    assert [(one.owner.tenant, one.reason) for one in ledger.rejections] == [("acme", reason)]
    assert ledger.reservations == {}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("error", [QueueFullError("full"), DeadlineError("late", retry_after_s=3)])
async def test_what_the_queue_refuses_takes_up_no_limit(world: World, error: Exception, stream: bool) -> None:
    """It had been reserved by then: it ends as rejected, once."""
    async with world.ledger() as ledger:
        app = site(ledger, FakeBackend(error=error), limits=("requests=1/1d",))
        answers = [await post(app, stream=stream) for _ in range(3)]

    assert {answer.json()["error"]["code"] for answer in answers} <= {"queue_full", "deadline"}
    assert [row["ending"] for row in world.rows(ENDS)] == [Ending.REJECTED] * 3
    assert world.verify().faults == ()


async def test_a_full_server_books_its_refusals() -> None:
    """Nothing is reserved for them."""
    ledger = MemoryLedger()
    running = Running(1)
    running.begin_drain()
    answer = await post(site(ledger, running=running))

    assert answer.status_code == 503
    assert [one.reason for one in ledger.rejections] == ["draining"]
    assert ledger.reservations == {}


async def test_a_flood_of_refusals_does_not_fill_the_ledger() -> None:
    """In one second each key has so many rows of them and no more; every client is answered all the same."""
    ledger = MemoryLedger()
    app = site(ledger)
    answers = [await post(app, model="unheard-of") for _ in range(A_SECOND + 5)]

    assert {answer.status_code for answer in answers} == {404}
    assert len(ledger.rejections) == A_SECOND


async def test_a_refusal_that_cannot_be_booked_is_a_refusal_all_the_same() -> None:
    """The client learns what is wrong with its request."""
    answer = await post(site(failing("reject", LedgerUnavailableError("gone"))), model="unheard-of")

    assert answer.status_code == 404


# --- limits ---


async def test_concurrent_requests_never_overspend(world: World) -> None:
    """Of 64 at once as many are admitted as the limit has room for."""
    gate = asyncio.Event()
    backend = FakeBackend(gate=gate)
    async with world.ledger() as ledger:
        app = site(ledger, backend, limits=("steps=640/1d",))
        async with client_of(app) as client:  # type: ignore[arg-type]
            calls = [asyncio.create_task(client.post(CHAT, json=chat_body(), headers=KEY)) for _ in range(64)]
            await until(lambda: len(backend.requests) + sum(call.done() for call in calls) == 64)
            gate.set()
            answers = await asyncio.gather(*calls)

    # 16 steps in each of 4 canvases.
    assert sum(answer.status_code == 200 for answer in answers) == 640 // 64
    refused = [answer for answer in answers if answer.status_code != 200]
    assert {(answer.status_code, answer.json()["error"]["code"]) for answer in refused} == {
        (429, "rate_limit_exceeded")
    }
    assert world.verify().faults == ()


async def test_a_tenant_seen_for_the_first_time_has_its_limits_at_once(world: World) -> None:
    """In a database that nobody has written to, the first requests at once are within them."""
    async with world.ledger() as ledger:
        app = site(ledger, limits=("requests=1/1d",))
        answers = await asyncio.gather(*(post(app) for _ in range(5)))

    assert sorted(answer.status_code for answer in answers) == [200, 429, 429, 429, 429]


async def test_an_unknown_cost_takes_up_the_whole_limit(world: World) -> None:
    """A model without a price may be asked once; what it costs is said to be unknown."""
    world.prices = type(world.prices)(version="few", prices=(replace_model(world.prices.prices[0]),))
    async with world.ledger() as ledger:
        app = site(ledger, limits=("cost=1/1d",))
        first, second = await post(app), await post(app)

    assert (first.status_code, first.json()["usage"]["cost"]) == (200, None)
    assert "x-unmask-cost" not in first.headers
    assert (second.status_code, second.json()["error"]["code"]) == (429, "insufficient_quota")
    assert second.headers["x-should-retry"] == "false"


def replace_model(price: Any) -> Any:  # noqa: ANN401 - a price
    """Return the price of another model."""
    return type(price)(model="nano", token_step=price.token_step, prefill_token=price.prefill_token)


async def test_use_across_a_window_is_kept_in_the_window_it_was_reserved_in(world: World) -> None:
    """A request that ends in the next window gives back nothing there, and takes nothing of it."""
    gate = asyncio.Event()
    backend = FakeBackend(gate=gate)
    async with world.ledger() as ledger:
        app = site(ledger, backend, limits=("requests=1/1m",))
        first = asyncio.create_task(post(app))
        await until(lambda: len(backend.requests) == 1)
        refused = await post(app)
        world.wall.set(world.wall.time() + 60)
        second = asyncio.create_task(post(app))
        await until(lambda: len(backend.requests) == 2)
        gate.set()
        answers = [await first, await second, await post(app)]

    assert refused.status_code == 429
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert world.verify().faults == ()


async def test_a_request_longer_than_any_lease_keeps_its_place(world: World) -> None:
    """Nobody takes its place away while its server lives, however long it runs."""
    gate = asyncio.Event()
    backend = FakeBackend(gate=gate)
    async with world.ledger() as ledger:
        app = site(ledger, backend, limits=("concurrency=1",))
        first = asyncio.create_task(post(app))
        await until(lambda: len(backend.requests) == 1)
        world.wall.set(world.wall.time() + 86_400)
        refused = await post(app)
        gate.set()
        answered, later = await first, await post(app)

    assert (refused.status_code, answered.status_code, later.status_code) == (429, 200, 200)


# --- idempotency ---


async def test_an_idempotency_key_stands_for_one_request(world: World) -> None:
    """Again while it runs or once it is answered: refused; another body under the same key too."""
    again = {"idempotency-key": "once"}
    async with world.ledger() as ledger:
        app = site(ledger)
        first = await post(app, headers=again)
        second = await post(app, headers=again)
        other = await post(app, headers=again, n=2)
        plain = await post(app)

    assert (first.status_code, plain.status_code) == (200, 200)
    assert (second.status_code, second.json()["error"]["code"]) == (409, "duplicate_request")
    assert (other.status_code, other.json()["error"]["code"]) == (422, "idempotency_mismatch")
    assert second.headers["x-should-retry"] == other.headers["x-should-retry"] == "false"
    assert len(world.rows(REQUESTS)) == 4


async def test_an_idempotency_key_may_come_again_after_a_failure(world: World) -> None:
    """Nothing was answered under it."""
    async with world.ledger() as ledger:
        failed = await post(site(ledger, FakeBackend(error=QueueFullError("full"))), headers={"idempotency-key": "k"})
        again = await post(site(ledger), headers={"idempotency-key": "k"})

    assert (failed.status_code, again.status_code) == (429, 200)


@pytest.mark.parametrize("key", ["", "x" * 256, "caf\xe9"])
async def test_an_idempotency_key_that_is_none_is_refused(key: str) -> None:
    """By name."""
    async with client_of(site(MemoryLedger())) as client:  # type: ignore[arg-type]
        headers = [*((name.encode(), value.encode()) for name, value in KEY.items())]
        sent = [*headers, (b"idempotency-key", key.encode("latin-1"))]
        answer = await client.post(CHAT, json=chat_body(), headers=sent)

    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "Idempotency-Key")


async def test_completions_are_booked_too() -> None:
    """Several prompts are one request."""
    ledger = MemoryLedger()
    answer = await post(site(ledger), COMPLETIONS, model="tiny", prompt=["add 1 + 1", "add 2 + 2"])

    assert answer.status_code == 200
    assert [len(one.attempts) for one in ledger.settlements.values()] == [2]


@pytest.fixture(name="world")
def _world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Return an empty ledger in a file."""
    return World(Databases(tmp_path_factory.mktemp("ledger")).make("sqlite"))
