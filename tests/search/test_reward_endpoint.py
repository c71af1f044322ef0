"""A reward endpoint over HTTP: what it is sent, and what its answers mean."""

import asyncio
import json

import httpx
import pytest

from unmask.remote.key import Key
from unmask.search.reward import RewardEnd, RewardError
from unmask.search.reward_endpoint import LARGEST_ANSWER, RewardEndpoint
from unmask.testing.fake_upstream import Exchange, FakeUpstream, Script
from unmask.types import Message, Role

CHAT = (Message(role=Role.SYSTEM, content="짧게."), Message(role=Role.USER, content="무엇입니까?"))
TEXTS = ("하나", "둘")
URL = "https://reward.example/score"


def answering(content: bytes, status: int = 200) -> httpx.MockTransport:
    """Return a transport that answers everything alike."""
    return httpx.MockTransport(lambda _: httpx.Response(status, stream=httpx.ByteStream(content)))


async def asked(transport: httpx.AsyncBaseTransport) -> RewardEnd:
    """Ask, and return what became of it."""
    endpoint = RewardEndpoint(URL, Key("s3cret"), transport=transport)
    try:
        await endpoint(CHAT, TEXTS)
    except RewardError as error:
        return RewardEnd.USED if "s3cret" in error.message else error.end
    finally:
        await endpoint.aclose()
    return RewardEnd.USED


async def test_chat_and_candidates_are_sent_and_scores_read() -> None:
    """In their order; fields that nobody knows are read past."""
    sent: list[httpx.Request] = []

    def score(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200, stream=httpx.ByteStream(b'{"scores": [1, -0.5], "model": "r"}'))

    endpoint = RewardEndpoint(URL, Key("s3cret"), transport=httpx.MockTransport(score))
    assert list(await endpoint(CHAT, TEXTS)) == [1.0, -0.5]
    await endpoint.aclose()

    (request,) = sent
    assert (request.method, str(request.url)) == ("POST", URL)
    assert request.headers["authorization"] == "Bearer s3cret"
    assert json.loads(request.content) == {
        "messages": [{"role": "system", "content": "짧게."}, {"role": "user", "content": "무엇입니까?"}],
        "candidates": ["하나", "둘"],
    }


@pytest.mark.parametrize(
    ("content", "status", "end"),
    [
        (b"s3cret", 401, RewardEnd.FAILED),
        (b"", 307, RewardEnd.FAILED),
        (b"", 200, RewardEnd.NONSENSE),
        (b"[1, 2]", 200, RewardEnd.NONSENSE),
        (b'{"scores": ["1", "2"]}', 200, RewardEnd.NONSENSE),
        (b'{"scores": [NaN, 1]}', 200, RewardEnd.NONSENSE),
        (b'{"scores": [' + b"1," * LARGEST_ANSWER + b"1]}", 200, RewardEnd.NONSENSE),
        (b'{"scores": [1, 2]}', 200, RewardEnd.USED),
    ],
)
async def test_what_an_answer_means(content: bytes, status: int, end: RewardEnd) -> None:
    """An error, nonsense, or scores; a key that is repeated is not passed on."""
    assert await asked(answering(content, status)) is end


async def test_one_that_cannot_be_reached_is_said() -> None:
    """Whatever the connection's error is."""

    def broken(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("no", request=request)

    assert await asked(httpx.MockTransport(broken)) is RewardEnd.FAILED


async def test_metadata_addresses_are_not_connected_to() -> None:
    """A name may stand for what only this machine may ask."""
    endpoint = RewardEndpoint("http://169.254.169.254/score", Key())
    with pytest.raises(RewardError, match="link-local"):
        await endpoint(CHAT, TEXTS)
    await endpoint.aclose()


@pytest.mark.parametrize("begins", [False, True], ids=["says nothing", "stops halfway"])
async def test_giving_up_hangs_up(*, begins: bool) -> None:
    """Whoever has no more time leaves nothing behind."""

    async def hang(exchange: Exchange) -> None:
        if begins:
            await exchange.send(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{")
        await exchange.gone.wait()

    script: Script = hang
    async with FakeUpstream(script).listening() as there:
        endpoint = RewardEndpoint(f"{there.url}/score", Key())
        asking = asyncio.ensure_future(endpoint(CHAT, TEXTS))
        async with asyncio.timeout(10):
            while not there.exchanges:  # noqa: ASYNC110 - the fake signals nothing
                await asyncio.sleep(0.001)
            asking.cancel()
            await there.exchanges[0].gone.wait()
        await endpoint.aclose()
    assert asking.cancelled()
