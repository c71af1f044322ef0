"""Behaviour of further tries, circuits, places and pools."""

import asyncio
from contextlib import aclosing, suppress
from dataclasses import replace

import pytest

from tests.remote.remotes import make_request, remote
from unmask.remote.breaker import Breaker, Circuit
from unmask.remote.errors import (
    CircuitOpenError,
    RequestRefusedError,
    UpstreamBusyError,
    UpstreamError,
    UpstreamFailedError,
    UpstreamQueueError,
    UpstreamUnavailableError,
)
from unmask.remote.retrying import pause_s
from unmask.remote.settings import Breaking, Retries
from unmask.testing.fake_upstream import (
    DONE,
    STREAM_HEAD,
    Exchange,
    Script,
    answer,
    answering,
    chunk,
    resetting,
    silent,
    streaming,
    usage_event,
)
from unmask.testing.manual_clock import ManualClock
from unmask.testing.waiting import until
from unmask.types import Message, Role

RETRIES = Retries(limit=3, base=1.0, longest=3.0)
FAILS = answering(500)
WELL = streaming(*answer("42"))


@pytest.mark.parametrize("first", [resetting, answering(502), answering(503), answering(504), answering(429)])
async def test_request_is_sent_again(first: Script) -> None:
    """What has not been taken is tried again after a pause."""
    async with remote(first, WELL, retries=RETRIES) as far:
        assert (await far.backend.generate(make_request())).text == "42"

    assert (far.asked, far.pauses) == (2, [1.0])


@pytest.mark.parametrize("first", [answering(500), answering(400), answering(401), streaming(chunk("4"))])
async def test_request_is_not_sent_again(first: Script) -> None:
    """What was refused, or may have been worked on, is not tried again."""
    async with remote(first, WELL, retries=RETRIES) as far:
        with pytest.raises(UpstreamError):
            await far.backend.generate(make_request())

    assert (far.asked, far.pauses) == (1, [])


async def test_pauses_double_up_to_the_longest() -> None:
    """Pauses are drawn from 0 to twice what the one before was drawn from, and tries end."""
    async with remote(answering(503), retries=RETRIES, breaking=Breaking(failures=100), draw=lambda: 0.5) as far:
        with pytest.raises(UpstreamUnavailableError):
            await far.backend.generate(make_request())

    assert (far.asked, far.pauses) == (4, [0.5, 1.0, 1.5])


async def test_asked_for_pause_is_kept() -> None:
    """A pause is never shorter than what the upstream asks for."""
    async with remote(answering(429, retry_after="2"), WELL, retries=RETRIES, draw=lambda: 0.25) as far:
        await far.backend.generate(make_request())

    assert far.pauses == [2.25]


async def test_long_pause_is_left_to_the_caller() -> None:
    """An upstream that asks for longer than anybody waits here is not waited for, and the caller is told."""
    async with remote(answering(429, retry_after="60"), WELL, retries=RETRIES) as far:
        with pytest.raises(UpstreamBusyError) as caught:
            await far.backend.generate(make_request())

    assert (caught.value.retry_after_s, far.pauses) == (60.0, [])


def test_full_jitter() -> None:
    """The longest pause is drawn from 0 on, so that callers spread over all of it."""
    assert [pause_s(RETRIES, tried, lambda: 0.0, None) for tried in (1, 2, 3, 4)] == [0.0, 0.0, 0.0, None]
    assert [pause_s(RETRIES, tried, lambda: 1.0, None) for tried in (1, 2, 3)] == [1.0, 2.0, 3.0]


async def test_circuit_opens_and_is_tried_after_a_while() -> None:
    """After failures in a row nobody asks; then one does, and its answer closes the circuit."""
    async with remote(FAILS, FAILS, WELL, breaking=Breaking(failures=2, open=10)) as far:
        for _ in range(2):
            assert far.backend.problems() == ()
            with pytest.raises(UpstreamFailedError):
                await far.backend.generate(make_request())
        far.clock.advance(4)
        with pytest.raises(CircuitOpenError, match="2 times in a row") as caught:
            await far.backend.generate(make_request())
        (problem,) = far.backend.problems()
        far.clock.advance(6)

        assert (await far.backend.generate(make_request())).text == "42"
        assert far.backend.problems() == ()
    assert caught.value.retry_after_s == 6.0
    assert "no upstream of far is well: upstream up1 has failed 2 times in a row, lastly: it answers 500" in problem
    assert far.asked == 3


async def test_failed_trial_opens_the_circuit_again() -> None:
    """One failure is enough then."""
    async with remote(FAILS, breaking=Breaking(failures=2, open=10)) as far:
        for _ in range(2):
            with pytest.raises(UpstreamFailedError):
                await far.backend.generate(make_request())
        far.clock.advance(10)
        with pytest.raises(UpstreamFailedError):
            await far.backend.generate(make_request())
        with pytest.raises(CircuitOpenError):
            await far.backend.generate(make_request())

    assert far.asked == 3


async def test_refusals_open_no_circuit() -> None:
    """What speaks against the request does not speak against the upstream."""
    async with remote(answering(400), breaking=Breaking(failures=1)) as far:
        for _ in range(3):
            with pytest.raises(RequestRefusedError):
                await far.backend.generate(make_request())

        assert far.backend.problems() == ()


def test_only_one_tries() -> None:
    """While one request tries an open circuit, no other does; one that leaves lets the next try."""
    clock = ManualClock()
    breaker = Breaker("u", Breaking(failures=1, open=5), clock)
    breaker.enter()
    breaker.fail("it burns")
    states = [breaker.circuit]
    clock.advance(5)
    states.append(breaker.circuit)
    breaker.enter()
    with pytest.raises(CircuitOpenError):
        breaker.enter()
    breaker.leave()
    breaker.enter()
    breaker.succeed()
    states.append(breaker.circuit)

    assert states == [Circuit.OPEN, Circuit.HALF_OPEN, Circuit.CLOSED]


async def test_abandoned_trial_frees_the_circuit() -> None:
    """A caller that leaves tells nothing of the upstream, and the next one may try."""
    hangs = silent(STREAM_HEAD, chunk("4"))
    async with remote(FAILS, hangs, WELL, breaking=Breaking(failures=1, open=10)) as far:
        with pytest.raises(UpstreamFailedError):
            await far.backend.generate(make_request())
        far.clock.advance(10)
        async with aclosing(far.backend.stream(make_request())) as events:
            await anext(events)

        assert (await far.backend.generate(make_request())).text == "42"


async def test_places_are_bounded() -> None:
    """So many requests are at an upstream at once; so many wait; one more is refused."""
    release = asyncio.Event()

    async def script(exchange: Exchange) -> None:
        await exchange.send(STREAM_HEAD)
        await release.wait()
        await exchange.send(*answer("42"))

    async with remote(script, upstream={"concurrency": 2, "queue": 1}) as far:
        running = [asyncio.create_task(far.backend.generate(make_request())) for _ in range(3)]
        await until(lambda: far.asked == 2)
        (load,) = far.backend.load()
        assert (load.running, load.waiting, load.max_running) == (2, 1, 2)
        with pytest.raises(UpstreamQueueError):
            await far.backend.generate(make_request())
        release.set()

        assert [(await one).text for one in running] == ["42"] * 3
    assert far.asked == 3


async def test_other_upstream_of_the_pool_takes_over() -> None:
    """Before the first text another upstream is asked at once, whatever pause the first one asks for."""
    busy = answering(429, retry_after="60")
    async with remote(busy, second=(WELL,), retries=Retries(limit=1)) as far:
        found = [await far.backend.generate(make_request(f"question {number}")) for number in range(8)]

    assert [one.text for one in found] == ["42"] * 8
    assert len(far.upstreams[1].exchanges) == 8
    assert 0 < far.asked < 8
    assert set(far.pauses) == {0.0}


async def test_open_circuits_of_a_pool_are_passed_over() -> None:
    """A pool is well while one upstream is; one whose circuit is open is not asked."""
    async with remote(answering(500), second=(WELL,), breaking=Breaking(failures=1)) as far:
        outcomes = []
        for number in range(20):
            try:
                outcomes.append((await far.backend.generate(make_request(f"question {number}"))).text)
            except UpstreamFailedError:
                outcomes.append("failed")
        problems = far.backend.problems()

    assert outcomes.count("failed") == 1
    assert problems == ()


async def test_sessions_stay_where_they_are() -> None:
    """Turns of one session, and prompts that begin alike, go to one upstream; others spread."""
    async with remote(WELL, second=(WELL,)) as far:
        counts = []
        for session in range(12):
            before = far.asked
            turns: tuple[Message, ...] = ()
            for turn in range(3):
                turns = (*turns, Message(role=Role.USER, content=f"안녕 {session}.{turn}"))
                await far.backend.generate(replace(make_request(), messages=turns, tenant="t"))
            counts.append(far.asked - before)

    assert set(counts) == {0, 3}


async def test_upstreams_are_told_of() -> None:
    """Each with what went there and why, and with what its circuit keeps away."""
    usage = usage_event(40, 2, prompt_tokens_details={"cached_tokens": 30})
    cached = streaming(chunk("42", finish_reason="stop"), usage, DONE)
    async with remote(FAILS, second=(cached,), breaking=Breaking(failures=1)) as far:
        for number in range(20):
            with suppress(UpstreamFailedError):
                await far.backend.generate(make_request(f"질문 {number}", session=f"s{number}"))
        ((ill, well),) = (load.replicas for load in far.backend.load())

    assert ill.problem is not None
    assert "failed 1 times in a row" in ill.problem
    assert (well.problem, well.hit_rate) == (None, 0.75)
    assert [sum(count for _, count in one.decisions) for one in (ill, well)] == [1, 19]


async def test_busy_upstream_gives_requests_away() -> None:
    """A prompt too short to be worth a queue goes wherever there is less to do."""
    hangs = silent(STREAM_HEAD)
    async with remote(hangs, second=(hangs,)) as far:
        running = [asyncio.create_task(far.backend.generate(make_request())) for _ in range(12)]
        await until(lambda: sum(len(one.exchanges) for one in far.upstreams) == len(running))
        counts = sorted(len(one.exchanges) for one in far.upstreams)
        for one in running:
            one.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    assert counts == [6, 6]
