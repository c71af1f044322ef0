"""Behaviour of `unmask.remote` in front of servers that misbehave."""

import asyncio
import json
import socket
from contextlib import aclosing

import pytest

from tests.remote.remotes import NOW, PATIENT, make_request, remote, texts
from unmask.backend import CommitEvent
from unmask.errors import DrainingError, UnknownModelError
from unmask.remote.errors import (
    BrokenOffError,
    RequestRefusedError,
    SilentError,
    UnreachableError,
    UpstreamBusyError,
    UpstreamChangedError,
    UpstreamErrorEventError,
    UpstreamFailedError,
    UpstreamProtocolError,
    UpstreamRefusedError,
    UpstreamTimeoutError,
    UpstreamTooMuchError,
    UpstreamUnavailableError,
    WithheldError,
)
from unmask.remote.settings import Bounds, Retries, Timeouts
from unmask.testing.fake_upstream import (
    DONE,
    STREAM_HEAD,
    Exchange,
    Script,
    answer,
    answering,
    chunk,
    endless,
    event,
    resetting,
    silent,
    streaming,
    usage_event,
)
from unmask.testing.waiting import until
from unmask.types import ExitReason, FinishReason, Outcome, Sampling

HANGUL = "안녕, 세계 한국어"
SHORT = 0.05
"""Seconds of a timeout that a test waits out."""


async def test_answer_comes_through() -> None:
    """Text arrives in order, then what the answer was and cost by the upstream's count; steps are not known."""
    async with remote(streaming(*answer(HANGUL))) as far:
        pieces, generation = await texts(far.backend, make_request())

    assert pieces == list(HANGUL)
    assert (generation.text, generation.finish_reason) == (HANGUL, FinishReason.STOP)
    assert generation.outcome is Outcome.COMPLETED
    usage = generation.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.tokens_known) == (7, 3, True)
    assert (usage.steps_used, usage.steps_allocated, usage.canvases, usage.steps_known) == (0, 0, 0, False)


async def test_request_says_all_that_was_asked() -> None:
    """The body carries the upstream's name of the model, messages, sampling and bounds, and nothing of ours."""
    request = make_request("더하기", sampling=Sampling(temperature=0.5, top_p=0.9, seed=11), stop=("\n",), max_tokens=5)
    async with remote(streaming(*answer("2"))) as far:
        await far.backend.generate(request)
        exchange = far.upstreams[0].exchanges[0]

    assert exchange.target == "/v1/chat/completions"
    assert exchange.json == {
        "model": "m",
        "messages": [{"role": "user", "content": "더하기"}],
        "max_tokens": 5,
        "temperature": 0.5,
        "top_p": 0.9,
        "seed": 11,
        "stop": ["\n"],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert "authorization" not in exchange.headers


async def test_answers_are_always_bounded() -> None:
    """A request that names no length is sent with the model's."""
    async with remote(streaming(*answer("2")), default_max_tokens=77) as far:
        await far.backend.generate(make_request(max_tokens=None))

        assert far.upstreams[0].exchanges[0].json["max_tokens"] == 77


async def test_cut_at_length() -> None:
    """What ends at its length says so, and has taken all its steps."""
    async with remote(streaming(*answer("12", finish="length"))) as far:
        generation = await far.backend.generate(make_request())

    assert generation.finish_reason is FinishReason.LENGTH
    assert generation.usage.exit_reason is ExitReason.MAX_STEPS


async def test_empty_answer() -> None:
    """An answer without text is an answer."""
    async with remote(streaming(*answer(""))) as far:
        assert await texts(far.backend, make_request()) == ([], await far.backend.generate(make_request()))


async def test_missing_usage_is_marked() -> None:
    """Where the upstream does not say what an answer cost, no number is made up."""
    async with remote(streaming(chunk("2"), chunk(finish_reason="stop"), DONE)) as far:
        usage = (await far.backend.generate(make_request())).usage

    assert (usage.tokens_known, usage.steps_known) == (False, False)
    assert (usage.prompt_tokens, usage.completion_tokens) == (0, 0)


@pytest.mark.parametrize(("prompt", "completion"), [(10**9, 3), (7, 65)])
async def test_numbers_that_cannot_be_true_are_not_believed(prompt: int, completion: int) -> None:
    """A prompt above the context, or a text above what was allowed, would be booked to somebody."""
    last = usage_event(prompt, completion)
    async with remote(streaming(chunk("2", finish_reason="stop"), last, DONE)) as far:
        usage = (await far.backend.generate(make_request())).usage

    assert (usage.tokens_known, usage.prompt_tokens, usage.completion_tokens) == (False, 0, 0)


async def test_what_a_server_adds_to_a_prompt_is_not_prefilled_here() -> None:
    """It is told, and nobody pays for more than the prompt that was sent can have."""
    last = usage_event(5_000, 3)
    async with remote(streaming(chunk("2", finish_reason="stop"), last, DONE)) as far:
        usage = (await far.backend.generate(make_request("12345678"))).usage

    assert (usage.prompt_tokens, usage.prefill_tokens, usage.commit_tokens) == (5_000, 8 + 2 * 8, 3)


async def test_cached_tokens_are_taken_over() -> None:
    """What of the prompt was cached was not taken in again."""
    last = usage_event(10, 3, prompt_tokens_details={"cached_tokens": 4})
    async with remote(streaming(chunk("2", finish_reason="stop"), last, DONE)) as far:
        usage = (await far.backend.generate(make_request())).usage

    assert (usage.cached_tokens, usage.prefill_tokens) == (4, 6)


@pytest.mark.parametrize(
    "stream",
    [
        b"".join(answer(HANGUL)).replace(b"\n", b"\r\n"),
        b"".join(answer(HANGUL)).replace(b"\n", b"\r"),
        b"".join(answer(HANGUL)).replace(b"data: ", b"data:"),
        b": ping\n\n".join([b"", *answer(HANGUL)]),
        b"\xef\xbb\xbf" + b"".join(b"event: message\nid: 1\nretry: 10\n" + part for part in answer(HANGUL)),
    ],
    ids=["crlf", "cr", "without space", "comments", "other fields"],
)
async def test_every_way_to_write_events(stream: bytes) -> None:
    """Line ends, spaces, comments and other fields are as the standard has them."""
    async with remote(streaming(stream)) as far:
        assert (await far.backend.generate(make_request())).text == HANGUL


async def test_characters_cut_in_two() -> None:
    """A character whose bytes come apart is one character."""
    whole = b"".join(answer(HANGUL))
    async with remote(streaming(*(whole[place : place + 1] for place in range(len(whole))))) as far:
        assert await texts(far.backend, make_request()) == (list(HANGUL), await far.backend.generate(make_request()))


async def test_role_only_chunks() -> None:
    """Chunks that bring no text are read past, wherever they stand."""
    bare = chunk(None, delta={"role": "assistant"})
    async with remote(streaming(bare, chunk("4"), bare, chunk("2", finish_reason="stop"), bare, DONE)) as far:
        assert (await texts(far.backend, make_request()))[0] == ["4", "2"]


async def test_end_that_is_not_marked() -> None:
    """A stream that has said why its text ends is whole, though it lacks the mark of its end."""
    async with remote(streaming(chunk("2", finish_reason="stop"))) as far:
        assert (await far.backend.generate(make_request())).text == "2"


PROTOCOL: dict[str, tuple[Script, str]] = {
    "no finish_reason": (streaming(chunk("2"), DONE), "finish_reason"),
    "no JSON": (streaming(chunk("2"), b"data: {broken\n\n", DONE), "no chunk"),
    "an odd type": (streaming(event({"choices": [{"delta": {"content": 5}}]}), DONE), r"choices\.0\.delta\.content"),
    "JSON and no object": (streaming(b"data: 5\n\n", DONE), "no chunk"),
    "another choice": (streaming(chunk("2", index=1), DONE), "several choices"),
    "text behind the end": (streaming(chunk("2", finish_reason="stop"), chunk("3"), DONE), "behind its finish_reason"),
    "an unknown finish": (streaming(chunk("2", finish_reason="bored"), DONE), "bored"),
    "no UTF-8": (streaming(b'data: {"x": "\xff\xfe"}\n\n', DONE), "UTF-8"),
    "an HTML page": (answering(200, b"<html>login</html>", content_type="text/html"), "text/html"),
    "plain JSON": (answering(200, b"{}"), "application/json"),
    "compressed": (answering(200, b"zzz", content_type="text/event-stream", content_encoding="gzip"), "gzip"),
    "a redirect": (answering(302, b"", location="http://169.254.169.254/"), "302, which is not followed"),
    "no HTTP": (silent(b"SSH-2.0-OpenSSH_9\r\n\r\n"), "does not speak HTTP"),
    "204": (answering(204), "204"),
    "two models": (streaming(chunk("2"), event({"model": "n", "choices": []}), DONE), "two models"),
}


@pytest.mark.parametrize("name", PROTOCOL)
async def test_what_is_no_answer(name: str) -> None:
    """What is no stream of chunks is an error that names the upstream and what is wrong with it."""
    script, reason = PROTOCOL[name]
    async with remote(script) as far:
        with pytest.raises((UpstreamProtocolError, UnreachableError), match=f"upstream up1: .*{reason}"):
            await far.backend.generate(make_request())


async def test_redirect_is_never_followed() -> None:
    """One request goes out, to the address of the configuration."""
    async with remote(answering(307, location="/v1/elsewhere"), streaming(*answer("2"))) as far:
        with pytest.raises(UpstreamProtocolError):
            await far.backend.generate(make_request())

        assert far.asked == 1


@pytest.mark.parametrize("cut", [streaming(chunk("2")), streaming(chunk("2")[:-9]), streaming()])
async def test_truncated_stream(cut: Script) -> None:
    """An answer that ends without saying so is none."""
    async with remote(cut) as far:
        with pytest.raises(BrokenOffError, match="breaks off"):
            await far.backend.generate(make_request())


async def test_connection_broken_inside_the_answer() -> None:
    """Text that was passed on before is not taken for an answer, and the request is not sent again."""

    async def script(exchange: Exchange) -> None:
        await exchange.send(STREAM_HEAD, chunk("2"))
        await asyncio.sleep(0.02)
        exchange.reset()

    async with remote(script, retries=Retries(limit=3)) as far:
        with pytest.raises(BrokenOffError):
            await texts(far.backend, make_request())

        assert far.asked == 1


async def test_error_inside_the_answer() -> None:
    """An error event ends the answer with what it says."""
    async with remote(streaming(chunk("2"), event({"error": {"message": "out of memory"}}), DONE)) as far:
        with pytest.raises(UpstreamErrorEventError, match="out of memory"):
            await far.backend.generate(make_request())


@pytest.mark.parametrize("reason", ["content_filter", "tool_calls"])
async def test_withheld_answer(reason: str) -> None:
    """An answer that a filter or a tool cuts short is not passed for a whole one."""
    async with remote(streaming(chunk("2", finish_reason=reason), DONE)) as far:
        with pytest.raises(WithheldError, match=reason):
            await far.backend.generate(make_request())


async def test_slow_first_byte() -> None:
    """An upstream that does not begin in time is given up; it may be at work, so it is not asked again."""
    quick = Timeouts(connect=10, first_byte=SHORT, idle=10, total=10)
    async with remote(silent(), timeouts=quick, retries=Retries(limit=3)) as far:
        with pytest.raises(SilentError, match="has not begun"):
            await far.backend.generate(make_request())

        await until(far.upstreams[0].exchanges[0].gone.is_set)
        assert far.asked == 1


async def test_slow_first_byte_behind_the_head() -> None:
    """The head alone is no beginning."""
    quick = Timeouts(connect=10, first_byte=SHORT, idle=10, total=10)
    async with remote(silent(STREAM_HEAD), timeouts=quick) as far:
        with pytest.raises(UpstreamTimeoutError):
            await far.backend.generate(make_request())


async def test_stall_inside_the_answer() -> None:
    """An upstream that falls silent is given up and hung up on."""
    quick = Timeouts(connect=10, first_byte=10, idle=SHORT, total=10)
    async with remote(silent(STREAM_HEAD, chunk("2")), timeouts=quick) as far:
        with pytest.raises(UpstreamTimeoutError, match="nothing came"):
            await texts(far.backend, make_request())

        await until(far.upstreams[0].exchanges[0].gone.is_set)


async def test_total_time_ends_a_stream_of_comments() -> None:
    """Signs of life do not lengthen the total; no other timeout is as short."""
    quick = Timeouts(connect=100, first_byte=100, idle=100, total=10 * SHORT)

    async def script(exchange: Exchange) -> None:
        await exchange.send(STREAM_HEAD)
        while not exchange.gone.is_set():
            await exchange.send(b": ping\n\n")
            await asyncio.sleep(0.001)

    async with remote(script, timeouts=quick) as far:
        with pytest.raises(UpstreamTimeoutError):
            await far.backend.generate(make_request())

        await until(far.upstreams[0].exchanges[0].gone.is_set)


async def test_timeouts_are_those_of_the_class() -> None:
    """A service class may have timeouts of its own."""
    quick = Timeouts(connect=10, first_byte=SHORT, idle=10, total=10)
    async with remote(silent(), timeouts=PATIENT, class_timeouts={"": quick}) as far:
        with pytest.raises(SilentError):
            await far.backend.generate(make_request())


@pytest.mark.parametrize(
    "piece", [chunk("more "), b": ping\n\n", b"data: x", b"x" * 1000], ids=["text", "comments", "a line", "rubbish"]
)
async def test_endless_stream(piece: bytes) -> None:
    """A stream is bounded by what its tokens can take, and one event of it by itself."""
    bounds = Bounds(base_bytes=5_000, bytes_per_token=100, event_bytes=4_000)
    async with remote(endless(piece), bounds=bounds) as far:
        with pytest.raises(UpstreamTooMuchError):
            await texts(far.backend, make_request())

        await until(far.upstreams[0].exchanges[0].gone.is_set)


async def test_huge_error_page() -> None:
    """Of an error no more is read than a message needs, and less is repeated."""
    async with remote(answering(500, b"<p>" + b"x" * 3_000_000)) as far:
        with pytest.raises(UpstreamFailedError) as caught:
            await far.backend.generate(make_request())

    assert len(caught.value.message) < 400


STATUSES = (
    (400, RequestRefusedError),
    (401, UpstreamRefusedError),
    (404, UpstreamRefusedError),
    (422, RequestRefusedError),
    (429, UpstreamBusyError),
    (500, UpstreamFailedError),
    (502, UpstreamUnavailableError),
    (503, UpstreamUnavailableError),
    (504, UpstreamUnavailableError),
)


@pytest.mark.parametrize(("status", "kind"), STATUSES)
async def test_status_that_is_no_success(status: int, kind: type[Exception]) -> None:
    """Each status is an error of its kind, with the upstream's words where they are about the request."""
    body = json.dumps({"error": {"message": "too\nlong"}}).encode()
    async with remote(answering(status, body)) as far:
        with pytest.raises(kind, match=f"answers {status}") as caught:
            await far.backend.generate(make_request())

    assert type(caught.value) is kind
    assert ("too long" in str(caught.value)) == (status != 401)


@pytest.mark.parametrize(("header", "seconds"), [("7", 7.0), ("Fri, 15 Jan 2027 08:00:03 GMT", 3.0), ("soon", None)])
async def test_retry_after(header: str, seconds: float | None) -> None:
    """Seconds and dates are read; what is neither says nothing."""
    assert NOW == 1_800_000_000
    async with remote(answering(429, b"{}", retry_after=header)) as far:
        with pytest.raises(UpstreamBusyError) as caught:
            await far.backend.generate(make_request())

    assert caught.value.retry_after_s == seconds


async def test_nobody_listens() -> None:
    """An upstream that is not there is named."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    async with remote(resetting) as far:
        far.upstreams[0].exchanges.clear()
        upstream = far.backend._models["far"].pool.upstreams["up1"]
        object.__setattr__(upstream.settings, "url", f"http://127.0.0.1:{port}/v1")
        with pytest.raises(UnreachableError, match="upstream up1: it cannot be reached"):
            await far.backend.generate(make_request())


async def test_closing_the_stream_hangs_up() -> None:
    """Whoever leaves ends the request at the upstream too, at once."""
    async with remote(silent(STREAM_HEAD, chunk("2"))) as far:
        async with aclosing(far.backend.stream(make_request())) as events:
            assert await anext(events) == CommitEvent(text="2")

        await until(far.upstreams[0].exchanges[0].gone.is_set)


@pytest.mark.parametrize("script", [silent(), silent(STREAM_HEAD), silent(STREAM_HEAD, chunk("2"))])
async def test_cancelling_hangs_up(script: Script) -> None:
    """So does a cancelled call, before the first byte as well as after it."""
    async with remote(script) as far:
        task = asyncio.create_task(far.backend.generate(make_request()))
        await until(lambda: far.asked == 1)
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

        await until(far.upstreams[0].exchanges[0].gone.is_set)


async def test_model_that_changes() -> None:
    """An answer of another model than before is refused, and says what to do."""
    other = b"".join(answer("3")).replace(b'"model": "m"', b'"model": "m-2"')
    async with remote(streaming(*answer("2")), streaming(other), streaming(*answer("4"))) as far:
        await far.backend.generate(make_request())
        with pytest.raises(UpstreamChangedError, match=r"'m-2', allowed: m\. .*answers_as"):
            await texts(far.backend, make_request())

        assert (await far.backend.generate(make_request())).text == "4"


async def test_model_names_that_are_allowed() -> None:
    """An operator may name all that is right; then the first answer is held to it too."""
    other = b"".join(answer("3")).replace(b'"model": "m"', b'"model": "m-2"')
    async with remote(streaming(other), streaming(*answer("2")), answers_as=("m-2",)) as far:
        assert (await far.backend.generate(make_request())).text == "3"
        with pytest.raises(UpstreamChangedError):
            await far.backend.generate(make_request())


async def test_unknown_model() -> None:
    """A name that is not configured is never sent anywhere."""
    async with remote(streaming(*answer("2"))) as far:
        request = make_request()
        object.__setattr__(request, "model", "other")
        with pytest.raises(UnknownModelError, match="far"):
            await far.backend.generate(request)

        assert far.asked == 0


async def test_drain() -> None:
    """What runs is finished, and nothing new is taken."""
    release = asyncio.Event()

    async def script(exchange: Exchange) -> None:
        await exchange.send(STREAM_HEAD, chunk("2"))
        await release.wait()
        await exchange.send(*answer("3"))

    async with remote(script) as far:
        running = asyncio.create_task(far.backend.generate(make_request()))
        await until(lambda: far.asked == 1)
        draining = asyncio.create_task(far.backend.drain())
        await asyncio.sleep(0)
        with pytest.raises(DrainingError):
            await far.backend.generate(make_request())
        assert not draining.done()
        release.set()

        assert (await running).text == "23"
        await draining
