"""Behaviour in front of a vLLM that serves a diffusion model: caps, drafts, and what is told of steps."""

import asyncio
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any

import pytest

from tests.remote.engines import sglang_behind
from tests.remote.remotes import PATIENT, Remote, make_request, remote, texts
from unmask.backend import Lever, Request, Usage
from unmask.errors import InvalidRequestError
from unmask.remote.engines import VllmSettings
from unmask.remote.errors import (
    BrokenOffError,
    RequestRefusedError,
    UnsupportedByUpstreamError,
    UpstreamBusyError,
    UpstreamChangedError,
    UpstreamError,
    UpstreamFailedError,
    UpstreamProtocolError,
    UpstreamTimeoutError,
    UpstreamTooMuchError,
)
from unmask.remote.settings import Breaking, KeySource, Kind, Retries, Timeouts
from unmask.testing.fake_engines import FakeVllm
from unmask.testing.fake_upstream import (
    STREAM_HEAD,
    Exchange,
    Script,
    answering,
    chunk,
    endless,
    event,
    resetting,
    silent,
    streaming,
)
from unmask.testing.waiting import until
from unmask.types import Draft, ExitReason, Mode, StepBudget

SETTINGS = VllmSettings(canvas_length=32, max_steps=48, canvas_lengths=(16,), vocabulary=1_000)


def vllm(engine: FakeVllm, settings: VllmSettings = SETTINGS, **changes: Any) -> AbstractAsyncContextManager[Remote]:  # noqa: ANN401 - any field of the model
    """Open a backend in front of an engine."""
    return remote(engine.script, kind=Kind.VLLM, vllm=settings, **changes)


def chats(far: Remote) -> list[Exchange]:
    """Return the requests that were no looks at counters."""
    return [one for one in far.upstreams[0].exchanges if one.target == "/v1/chat/completions"]


async def usage_of(engine: FakeVllm, request: Request, settings: VllmSettings = SETTINGS) -> Usage:
    """Return what an answer is said to have cost."""
    async with vllm(engine, settings) as far:
        return (await far.backend.generate(request)).usage


async def sent_for(request: Request, settings: VllmSettings = SETTINGS) -> Any:  # noqa: ANN401 - any JSON
    """Return the arguments that the engine is sent."""
    async with vllm(FakeVllm(), settings) as far:
        await far.backend.generate(request)
        return chats(far)[0].json["vllm_xargs"]


@pytest.mark.parametrize(
    ("changes", "arguments"),
    [
        ({}, {"diffusion_max_steps": 32}),
        ({"budget": StepBudget(max_steps=8)}, {"diffusion_max_steps": 8}),
        ({"canvas_length": 16}, {"diffusion_max_steps": 16, "diffusion_canvas_length": 16}),
        ({"max_tokens": 96, "budget": StepBudget(max_steps=8, max_total_steps=13)}, {"diffusion_max_steps": 4}),
        ({"max_tokens": 96, "budget": StepBudget(max_steps=8, max_total_steps=99)}, {"diffusion_max_steps": 8}),
    ],
)
async def test_caps_are_sent(changes: dict[str, Any], arguments: dict[str, Any]) -> None:
    """Each request has its cap; a total, which a vLLM does not know, is shared out among its canvases."""
    assert await sent_for(make_request(**changes)) == arguments


async def test_drafts_are_sent() -> None:
    """What is open starts as noise that the seed decides, or as the mask; what is frozen is pinned."""
    draft = Draft(tokens=(7, None, 9), frozen=frozenset({0, 2}))
    request = make_request(draft=draft, canvas_length=16)
    noise = await sent_for(request)
    masks = await sent_for(request, VllmSettings(canvas_length=16, max_steps=16, mask_token=5))

    assert noise["diffusion_pinned"] == masks["diffusion_pinned"] == [0, 2]
    assert masks["diffusion_seed_canvas"] == [7, 5, 9, *[5] * 13]
    canvas = noise["diffusion_seed_canvas"]
    assert (canvas[0], canvas[2], len(canvas)) == (7, 9, 16)
    assert len(set(canvas)) > 10
    assert noise == await sent_for(request)


REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "steps": ("diffusion.max_steps", {"budget": StepBudget(max_steps=49)}),
    "total": ("diffusion.max_total_steps", {"max_tokens": 96, "budget": StepBudget(max_steps=4, max_total_steps=2)}),
    "canvas": ("diffusion.canvas_length", {"canvas_length": 8}),
    "long draft": ("draft.tokens", {"draft": Draft(tokens=(1,) * 33)}),
    "late draft": ("draft.before", {"draft": Draft(tokens=(1,), before=(2,))}),
    "open frozen": ("draft.frozen", {"draft": Draft(tokens=(1, None), frozen=frozenset({1}))}),
    "mode": ("mode", {"mode": Mode.AUTOREGRESSIVE}),
    "trace": ("trace", {"trace": True}),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_what_it_cannot_do_is_refused(name: str) -> None:
    """The refusal names the field; nothing goes out, not even for counters."""
    param, changes = REFUSED[name]
    async with vllm(FakeVllm()) as far:
        with pytest.raises(InvalidRequestError) as caught:
            await far.backend.generate(make_request(**changes))

        assert (caught.value.param, far.asked) == (param, 0)


async def test_drafts_need_to_know_what_is_open() -> None:
    """Without a vocabulary or a mask token the engine cannot be told, so there is no such lever."""
    async with vllm(FakeVllm(), VllmSettings(canvas_length=32, max_steps=48)) as far:
        (info,) = far.backend.models()
        with pytest.raises(UnsupportedByUpstreamError):
            await far.backend.generate(make_request(draft=Draft(tokens=(1,))))

    assert info.levers == (Lever.BUDGET,)
    assert (info.max_steps, info.default_canvas_length, info.canvas_lengths) == (48, 32, (32,))


@pytest.mark.parametrize(
    ("tokens", "cap", "used", "reason"),
    [(5, 32, 16, ExitReason.CONVERGED), (5, 8, 8, ExitReason.MAX_STEPS), (33, 8, 16, ExitReason.MAX_STEPS)],
)
async def test_steps_are_estimated(tokens: int, cap: int, used: int, reason: ExitReason) -> None:
    """Passes that commit are no steps; a cap is said to have ended it where every canvas took all of it."""
    usage = await usage_of(FakeVllm(tokens=tokens), make_request(budget=StepBudget(max_steps=cap)))

    assert (usage.steps_known, usage.steps_estimated, usage.cap_ignored) == (False, True, False)
    assert (usage.steps_used, usage.exit_reason) == (used, reason)
    assert (usage.canvases, usage.steps_allocated) == (-(-tokens // 32), cap * -(-tokens // 32))


async def test_cap_that_is_ignored(caplog: pytest.LogCaptureFixture) -> None:
    """More steps than were allowed are told as they are, no cap is said to have held, and the log says so once."""
    engine = FakeVllm(heeds_cap=False)
    async with vllm(engine) as far:
        usages = [(await far.backend.generate(make_request(budget=StepBudget(max_steps=4)))).usage for _ in range(2)]

    for usage in usages:
        assert (usage.steps_used, usage.steps_allocated, usage.cap_ignored) == (16, 4, True)
        assert (usage.steps_estimated, usage.exit_reason) == (True, ExitReason.CONVERGED)
    assert [line.message for line in caplog.records if "does not keep to diffusion_max_steps" in line.message] == [
        "Upstream up1 does not keep to diffusion_max_steps: 16 steps by its counters, where a canvas may take 4"
    ]


async def test_busy_server_is_accused_of_nothing() -> None:
    """Where others may have been counted too, nothing tells whose steps they were: at most the cap is believed."""
    engine = FakeVllm(heeds_cap=False, running=1)
    usage = await usage_of(engine, make_request(budget=StepBudget(max_steps=4)))

    assert (usage.steps_used, usage.steps_estimated, usage.cap_ignored) == (4, True, False)
    assert usage.exit_reason is ExitReason.CONVERGED


async def test_steps_of_requests_that_overlap_are_shared_by_tokens() -> None:
    """Two at once split what was counted; none of them is alone, so that no cap is said to have held."""
    engine = FakeVllm(tokens=32)
    arrived: list[Exchange] = []
    both = asyncio.Event()

    async def script(exchange: Exchange) -> None:
        if exchange.target != "/v1/chat/completions":
            await engine.script(exchange)
            return
        engine.count(24 if arrived else 8, 1, 32)
        arrived.append(exchange)
        if len(arrived) == 2:
            both.set()
        await both.wait()
        await streaming(*engine.events())(exchange)

    async with remote(script, kind=Kind.VLLM, vllm=SETTINGS) as far:
        made = await asyncio.gather(
            *(far.backend.generate(make_request(budget=StepBudget(max_steps=24))) for _ in "ab")
        )

    assert all(one.usage.steps_estimated and not one.usage.cap_ignored for one in made)
    assert {one.usage.exit_reason for one in made} == {ExitReason.CONVERGED}
    assert all(8 <= one.usage.steps_used <= 24 for one in made)


PAGES: dict[str, Script] = {
    "404": answering(404),
    "500": answering(500),
    "a redirect": answering(302, location="http://127.0.0.1:1/"),
    "no counters": answering(200, b"up 1\n"),
    "no numbers": answering(200, b"vllm:diffusion_num_denoising_steps_total{a= x\n"),
    "not finite": answering(
        200,
        b"vllm:diffusion_num_denoising_steps_total 1\nvllm:diffusion_num_canvas_positions_total NaN\n"
        b"vllm:diffusion_num_committed_tokens_total 1\n",
    ),
    "a page without end": endless(b"x" * 65_536),
    "no page": resetting,
}


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("is_second", [False, True])
async def test_counters_that_cannot_be_read(name: str, *, is_second: bool) -> None:
    """The answer is whole all the same, its steps are unknown, and the circuit hears nothing of it."""
    engine = FakeVllm()
    page = PAGES[name]
    # Twice, since a connection that breaks is made anew once for a page.
    engine.pages = [*([engine.page()] if is_second else []), page, page]
    async with vllm(engine, breaking=Breaking(failures=1)) as far:
        generation = await far.backend.generate(make_request())
        assert far.backend.problems() == ()

    usage = generation.usage
    assert generation.text == engine.text
    assert (usage.steps_known, usage.steps_estimated, usage.steps_used) == (False, False, 0)
    assert (usage.steps_allocated, usage.canvases, usage.most_steps) == (32, 1, 32)


async def test_counters_that_hang() -> None:
    """They have as long as a connection has; the answer does not wait for them any longer."""
    engine = FakeVllm(pages=[silent(b"")])
    async with vllm(engine, timeouts=Timeouts(connect=0.05, first_byte=10, idle=10, total=20)) as far:
        usage = (await far.backend.generate(make_request())).usage

    assert (usage.steps_estimated, usage.completion_tokens) == (False, 5)


async def test_server_that_starts_anew() -> None:
    """Counters that have gone down say nothing."""
    engine = FakeVllm(passes=100, positions=3_200, committed=640)
    first = engine.page()
    engine.passes = engine.positions = engine.committed = 0
    engine.pages = [first]

    assert (await usage_of(engine, make_request())).steps_estimated is False


async def test_counters_are_not_read_without_a_path() -> None:
    """Where the operator says that there are none, nothing is asked for, and steps are unknown."""
    async with vllm(FakeVllm(), VllmSettings(canvas_length=32, max_steps=48, metrics_path=None)) as far:
        usage = (await far.backend.generate(make_request())).usage

        assert (usage.steps_estimated, len(far.upstreams[0].exchanges)) == (False, 1)


async def test_counters_are_asked_for_at_the_root_with_the_key() -> None:
    """Before and after the answer, from the same server."""
    async with vllm(FakeVllm(), environ={"K": "sk-1"}, upstream={"key": KeySource(env="K")}) as far:
        await far.backend.generate(make_request())
        targets = [one.target for one in far.upstreams[0].exchanges]

        assert targets == ["/metrics", "/v1/chat/completions", "/metrics"]
        assert {one.headers["authorization"] for one in far.upstreams[0].exchanges} == {"Bearer sk-1"}


async def test_waiting_for_a_place_is_not_being_there() -> None:
    """With one place at a time every request is alone, however many wait."""
    async with vllm(FakeVllm(needs=8), upstream={"concurrency": 1}) as far:
        made = await asyncio.gather(*(far.backend.generate(make_request()) for _ in range(3)))

    assert [(one.usage.steps_used, one.usage.steps_estimated) for one in made] == [(8, True)] * 3


async def test_canvases_are_passed_on_as_they_come() -> None:
    """A stream is passed through, and its last event knows the steps."""
    async with vllm(FakeVllm()) as far:
        found, generation = await texts(far.backend, make_request())

    assert (found, generation.text, generation.usage.steps_used) == (["답은 42"], "답은 42", 16)


FAULTS: dict[str, tuple[Script, type[UpstreamError]]] = {
    "400": (answering(400, b'{"error": {"message": "diffusion_max_steps must be"}}'), RequestRefusedError),
    "429": (answering(429, retry_after="7"), UpstreamBusyError),
    "500": (answering(500), UpstreamFailedError),
    "truncated": (streaming(chunk("2")), BrokenOffError),
    "malformed": (streaming(b"data: {\n\n"), UpstreamProtocolError),
    "slow": (silent(STREAM_HEAD), UpstreamTimeoutError),
    "for ever": (endless(event({"model": "m", "choices": []}) * 200), UpstreamTooMuchError),
}


@pytest.mark.parametrize("kind", ["vllm", "sglang"])
@pytest.mark.parametrize("name", FAULTS)
async def test_faults(name: str, kind: str) -> None:
    """Every fault of an engine has the error that it has of any server."""
    script, error = FAULTS[name]

    async def with_counters(exchange: Exchange) -> None:
        await (script if exchange.target == "/v1/chat/completions" else answering(404))(exchange)

    timeouts = Timeouts(connect=10, first_byte=0.05, idle=0.05, total=20) if name == "slow" else PATIENT
    opened = (
        remote(with_counters, kind=Kind.VLLM, vllm=SETTINGS, timeouts=timeouts)
        if kind == "vllm"
        else sglang_behind(with_counters, timeouts=timeouts)
    )
    async with opened as far:
        with pytest.raises(error):
            await far.backend.generate(make_request())


async def test_failed_tries_are_tried_again() -> None:
    """A 503 is tried again, with counters read anew, and the steps are those of the answer."""
    engine = FakeVllm()
    failed: list[Exchange] = []

    async def script(exchange: Exchange) -> None:
        if exchange.target == "/v1/chat/completions" and not failed:
            failed.append(exchange)
            await answering(503)(exchange)
        else:
            await engine.script(exchange)

    async with remote(script, kind=Kind.VLLM, vllm=SETTINGS, retries=Retries(limit=1)) as far:
        usage = (await far.backend.generate(make_request())).usage

        assert (usage.steps_used, far.pauses) == (16, [0.25])


async def test_model_that_changes_is_refused() -> None:
    """An answer of another model than before is no answer."""
    engine = FakeVllm()
    other = event({"model": "n", "choices": [{"index": 0, "delta": {"content": "x"}}]})

    async def script(exchange: Exchange) -> None:
        is_later = exchange.target == "/v1/chat/completions" and engine.passes
        await (streaming(other) if is_later else engine.script)(exchange)

    async with remote(script, kind=Kind.VLLM, vllm=SETTINGS) as far:
        await far.backend.generate(make_request())
        with pytest.raises(UpstreamChangedError):
            await far.backend.generate(make_request())


async def test_whoever_leaves_ends_it_there() -> None:
    """The connection closes, and the next request is not taken for one that has company."""
    engine = FakeVllm()
    hung: list[Exchange] = []

    async def script(exchange: Exchange) -> None:
        if exchange.target == "/v1/chat/completions" and not hung:
            hung.append(exchange)
            await silent(STREAM_HEAD)(exchange)
        else:
            await engine.script(exchange)

    async with remote(script, kind=Kind.VLLM, vllm=SETTINGS) as far:
        task = asyncio.create_task(far.backend.generate(make_request()))
        await until(lambda: bool(hung))
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await until(hung[0].gone.is_set)
        usage = (await far.backend.generate(make_request(budget=StepBudget(max_steps=8)))).usage

    assert (usage.steps_used, usage.exit_reason) == (8, ExitReason.MAX_STEPS)
