"""Behaviour of `unmask.app.connection`: clients that are slow, endless, malformed or gone, over real sockets."""

import asyncio
import gzip
import json
import logging
from collections.abc import Iterator

import pytest
from starlette.types import Message, Receive, Scope, Send

from tests.app.site import BODY, CHAT, GET, HOST, Wire, open_site, post
from unmask.app import connection as connection_module
from unmask.app.connection import MOST_PIPELINED
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.waiting import until

LAST = GET.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n")
"""A request after whose answer the server hangs up."""
CHUNKED = b"POST %s HTTP/1.1\r\n%stransfer-encoding: chunked\r\n\r\n" % (CHAT.encode(), HOST)


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing that a client does is worth a warning, let alone a traceback."""
    yield
    assert [record.getMessage() for record in caplog.get_records("call") if record.levelno >= logging.WARNING] == []


def get(head: bytes, *, version: bytes = b"1.1") -> bytes:
    """Return a request of headers of the test's choice."""
    return b"GET /health HTTP/%s\r\n%s\r\n\r\n" % (version, head)


MALFORMED = {
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a proxy's method": b"CONNECT example.org:443 HTTP/1.1\r\n" + HOST + b"\r\n",
    "a method in small letters": b"get /health HTTP/1.1\r\n" + HOST + b"\r\n",
    "no such method": b"BREW /health HTTP/1.1\r\n" + HOST + b"\r\n",
    "no such version": get(HOST.rstrip(), version=b"9.9"),
    "no host": get(b"x: y"),
    "two hosts": get(HOST + HOST.rstrip()),
    "bytes in the path": b"GET /\xff\xfe HTTP/1.1\r\n" + HOST + b"\r\n",
    "bytes in the query": b"GET /health?\xff HTTP/1.1\r\n" + HOST + b"\r\n",
    "a blank in the path": b"GET /a b HTTP/1.1\r\n" + HOST + b"\r\n",
    "a target without a path": b"GET http://localhost HTTP/1.1\r\n" + HOST + b"\r\n",
    "a zero byte": get(HOST + b"x: a\x00b"),
    "a carriage return in an id": get(HOST + b"x-request-id: a\rset-cookie: b"),
    "a line feed in an id": get(HOST + b"x-request-id: a\nset-cookie: b"),
    "a folded id": get(HOST + b"x-request-id: a\r\n set-cookie: b"),
    "a header without a colon": get(HOST + b"xy"),
    "a length and chunks": post(b"{}", b"transfer-encoding: chunked"),
    "two lengths": post(b"{}", b"content-length: 3"),
    "a negative length": b"POST /health HTTP/1.1\r\n" + HOST + b"content-length: -1\r\n\r\n",
    "a length in words": b"POST /health HTTP/1.1\r\n" + HOST + b"content-length: one\r\n\r\n",
    "a length beyond numbers": b"POST /health HTTP/1.1\r\n" + HOST + b"content-length: 9%s\r\n\r\n" % (b"9" * 30),
    "a transfer without chunks": b"POST /health HTTP/1.1\r\n" + HOST + b"transfer-encoding: gzip\r\n\r\n",
    "a chunk without a size": CHUNKED + b"x\r\n\r\n",
    "a chunk beyond numbers": CHUNKED + b"f" * 30 + b"\r\n\r\n",
    "a chunk longer than it says": CHUNKED + b"1\r\n{}\r\n",
}


async def test_malformed_requests_are_told_so() -> None:
    """Each is answered in the API's shape, once, and the connection ends; the next client notices nothing."""
    backend = FakeBackend()
    async with open_site(backend) as site:
        for name, data in MALFORMED.items():
            async with await site.connect() as wire:
                await wire.send(data)
                answer, rest = await wire.answer(), await wire.rest()
            assert (name, answer.status, answer.code, rest) == (name, 400, "invalid_http", b"")
            assert answer.headers["connection"] == "close"
            assert answer.headers["x-request-id"].startswith("req-")
            assert "set-cookie" not in answer.headers
        assert (await site.exchange(GET)).status == 200

    assert backend.requests == []


UNUSUAL = {
    "HTTP/1.0": (b"GET /health HTTP/1.0\r\n\r\n", 200),
    "HTTP/1.0 with host": (get(HOST.rstrip(), version=b"1.0"), 200),
    "an absolute target": (b"GET http://localhost/health HTTP/1.1\r\n" + HOST + b"\r\n", 200),
    "bytes in a header": (get(HOST + b"x: \xff\xfe"), 200),
    "empty lines before": (b"\r\n\r\n" + GET, 200),
    "all paths at once": (b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n", 404),
    "what is allowed": (b"OPTIONS /health HTTP/1.1\r\n" + HOST + b"\r\n", 405),
    "escaped bytes in the path": (b"GET /v1/models/%ff%00%0d%0aX HTTP/1.1\r\n" + HOST + b"\r\n", 404),
    "a host that is none": (get(b"host: [::1"), 403),
    "another's host": (get(b"host: example.org"), 403),
    "bytes in the host": (get(b"host: \xff"), 403),
    "bytes in the body": (post(b'{"model": "\xff"}'), 400),
    "surrogates in the body": (post(b'{"model": "\\ud800"}'), 400),
    "an empty body": (post(b""), 400),
    "another encoding": (post(json.dumps(BODY).encode("utf-16")), 400),
    "no content type": (post(), 200),
    "another content type": (post(None, b"content-type: application/x-www-form-urlencoded"), 200),
    "a content type that is none": (post(None, b"content-type: \xff;;="), 200),
    "an unknown expectation": (post(None, b"expect: miracles"), 200),
    "an offer of HTTP/2": (
        post(None, b"connection: Upgrade, HTTP2-Settings", b"upgrade: h2c", b"http2-settings: AA"),
        200,
    ),
    "an offer in chunks": (
        CHUNKED.replace(b"\r\n\r\n", b"\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n")
        + b"%x\r\n%s\r\n0\r\n\r\n" % (len(json.dumps(BODY)), json.dumps(BODY).encode()),
        200,
    ),
    "an offer of WebSocket": (get(HOST + b"connection: upgrade\r\nupgrade: websocket"), 200),
}


async def test_unusual_requests_are_answered() -> None:
    """What can be understood is served or refused for a reason of its own, never with a 500."""
    async with open_site() as site:
        for name, (data, status) in UNUSUAL.items():
            answer = await site.exchange(data)
            assert (name, answer.status) == (name, status)


@pytest.mark.parametrize(
    ("data", "status", "code"),
    [
        pytest.param(b"GET /" + b"a" * 9_000 + b" HTTP/1.1\r\n", 414, "target_too_long", id="target"),
        pytest.param(b"GET /" + b"a" * (1 << 20), 414, "target_too_long", id="endless target"),
        pytest.param(get(HOST + b"x: " + b"a" * 33_000), 431, "headers_too_large", id="header"),
        pytest.param(get(HOST + b"x: a\r\n" * 100 + b"x: a"), 431, "headers_too_large", id="headers"),
        pytest.param(get(HOST)[:-4] + b"x: " + b"a" * (1 << 20), 431, "headers_too_large", id="endless header"),
        pytest.param(CHUNKED + b"0\r\n" + b"x: a\r\n" * 20_000, 431, "headers_too_large", id="trailers"),
    ],
)
async def test_long_heads_are_refused(data: bytes, status: int, code: str) -> None:
    """The refusal arrives although not all was read, whatever the client still sends."""
    async with open_site() as site, await site.connect() as wire:
        await wire.send(data)
        answer = await wire.answer()

    assert (answer.status, answer.code) == (status, code)
    assert answer.headers["connection"] == "close"


async def test_endless_trailer_is_refused() -> None:
    """A trailer that does not end is kept by the parser, so the bytes on the wire are bounded too."""
    async with open_site(max_body_bytes=1024, max_header_bytes=1024) as site, await site.connect() as wire:
        await wire.send(CHUNKED + b"0\r\nx: ")
        for _ in range(40):
            await wire.send(b"a" * 65_536)
        answer = await wire.answer()

    assert (answer.status, answer.code) == (431, "headers_too_large")


async def drip(wire: Wire, data: bytes) -> None:
    """Send a byte every few milliseconds, for as long as anybody listens."""
    for place in range(len(data)):
        await wire.send(data[place : place + 1])
        await asyncio.sleep(0.005)


async def test_headers_that_drip_are_given_up() -> None:
    """Bytes that keep coming do not move the deadline."""
    async with open_site(header_timeout_s=0.1) as site, await site.connect() as wire:
        dripping = asyncio.create_task(drip(wire, get(HOST + b"x: " + b"a" * 10_000)))
        answer, rest = await wire.answer(), await wire.rest()
        dripping.cancel()

    assert (answer.status, answer.code, rest) == (408, "headers_timeout", b"")
    assert answer.headers["connection"] == "close"


@pytest.mark.parametrize("before", [b"", GET])
async def test_empty_lines_are_no_request(before: bytes) -> None:
    """Neither on a new connection nor between requests do they keep it open, and there is nothing to answer."""
    async with open_site(header_timeout_s=0.1, keep_alive_s=0.1) as site, await site.connect() as wire:
        await wire.send(before)
        if before:
            assert (await wire.answer()).status == 200
        dripping = asyncio.create_task(drip(wire, b"\r\n" * 10_000))
        rest = await wire.rest()
        dripping.cancel()

    assert rest == b""


async def test_empty_line_behind_a_body_is_ignored() -> None:
    """Old clients send one; it takes nothing from the answer and from what comes after it."""
    gate = asyncio.Event()
    backend = FakeBackend(gate=gate)
    async with open_site(backend, header_timeout_s=0.05) as site, await site.connect() as wire:
        await wire.send(post() + b"\r\n")
        await until(lambda: bool(backend.requests))
        await asyncio.sleep(0.1)
        gate.set()
        first = await wire.answer()
        await wire.send(LAST)
        second, rest = await wire.answer(), await wire.rest()

    assert (first.status, second.status, rest) == (200, 200, b"")


async def test_silent_connections_are_closed_without_a_word() -> None:
    """One that never spoke, and one that has been idle since its last answer."""
    async with open_site(header_timeout_s=0.05, keep_alive_s=0.05) as site:
        async with await site.connect() as wire:
            assert await wire.rest() == b""
        async with await site.connect() as wire:
            await wire.send(GET)
            assert (await wire.answer()).status == 200
            assert await wire.rest() == b""


async def test_body_that_drips_is_given_up() -> None:
    """It is told what arrived; the backend is not asked."""
    backend = FakeBackend()
    async with open_site(backend, body_timeout_s=0.1) as site, await site.connect() as wire:
        dripping = asyncio.create_task(drip(wire, post(b" " * 10_000)))
        answer, rest = await wire.answer(), await wire.rest()
        dripping.cancel()

    assert (answer.status, answer.code, rest) == (408, "body_timeout", b"")
    assert answer.headers["connection"] == "close"
    assert backend.requests == []


async def pour(wire: Wire, piece: bytes) -> None:
    """Send the same again and again, as fast as it is taken."""
    while True:
        await wire.send(piece)
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("piece", "code"),
    [
        pytest.param(b"400\r\n" + b" " * 0x400 + b"\r\n", "body_too_large", id="chunks"),
        pytest.param(b"1\r\n \r\n" * 100, "body_too_large", id="chunks of one byte"),
        pytest.param(b"1;" + b"x" * 65_536, "headers_too_large", id="a chunk's own header"),
    ],
)
async def test_chunks_without_end_are_given_up(piece: bytes, code: str) -> None:
    """The answer gets through to a client that never stops, and then the connection ends."""
    async with open_site(max_body_bytes=10_000) as site, await site.connect() as wire:
        await wire.send(CHUNKED)
        pouring = asyncio.create_task(pour(wire, piece))
        answer, rest = await wire.answer(), await wire.rest()
        pouring.cancel()

    assert (answer.code, rest) == (code, b"")
    assert answer.headers["connection"] == "close"


async def test_body_that_nobody_reads_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once its answer is out, the rest of a body has little time left."""
    monkeypatch.setattr(connection_module, "LINGER_S", 0.05)
    async with open_site() as site, await site.connect() as wire:
        await wire.send(b"POST /health HTTP/1.1\r\n" + HOST + b"content-length: 1000000\r\n\r\n")
        answer = await wire.answer()
        dripping = asyncio.create_task(drip(wire, b" " * 10_000))
        rest = await wire.rest()
        dripping.cancel()

    assert (answer.status, rest) == (405, b"")


async def test_connection_goes_on_after_a_body_that_nobody_read() -> None:
    """A body that ends in time costs nobody the connection, nor does it stay open for ever."""
    async with open_site(keep_alive_s=0.1) as site, await site.connect() as wire:
        await wire.send(post(b" " * 200_000, target=b"/health")[:-100_000])
        first = await wire.answer()
        await wire.send(b" " * 100_000 + GET)
        second, rest = await wire.answer(), await wire.rest()

    assert (first.status, second.status, rest) == (405, 200, b"")


async def test_half_a_body_is_no_request() -> None:
    """A client that hangs up before the end of its body is not answered, and nothing runs."""
    backend = FakeBackend()
    async with open_site(backend) as site:
        async with await site.connect() as wire:
            await wire.send(post()[:-5])
            await until(lambda: bool(site.server.server_state.tasks))
        await until(lambda: not site.server.server_state.tasks)

    assert backend.requests == []


async def test_gzip_bomb_stays_packed() -> None:
    """A body that would unpack to a gigabyte is refused as it is."""
    bomb = gzip.compress(bytes(1 << 24))
    async with open_site() as site:
        answer = await site.exchange(post(bomb, b"content-encoding: gzip"))

    assert (answer.status, answer.code) == (415, "unsupported_encoding")
    assert answer.headers["connection"] == "close"


async def test_continue_is_said_to_who_waits_for_it() -> None:
    """A client that asks first is told to go on, unless its body is too long anyway."""
    head, body = post(None, b"expect: 100-continue").split(b"\r\n\r\n")
    too_long = b"POST %s HTTP/1.1\r\n%sexpect: 100-continue\r\ncontent-length: 9999999\r\n\r\n" % (CHAT.encode(), HOST)
    async with open_site() as site:
        async with await site.connect() as wire:
            await wire.send(head + b"\r\n\r\n")
            told = await wire.answer()
            await wire.send(body)
            answered = await wire.answer()
        refused = await site.exchange(too_long)

    assert (told.status, answered.status) == (100, 200)
    assert refused.status == 413


async def test_head_leaves_the_connection_in_step() -> None:
    """Its answer names the length of a body that does not follow."""
    async with open_site() as site, await site.connect() as wire:
        await wire.send(GET.replace(b"GET", b"HEAD") + LAST)
        data = await wire.rest()

    head, tail = data.split(b"\r\n\r\n", 1)
    assert head.startswith(b"HTTP/1.1 200 ")
    assert b"content-length: 0" not in head
    assert tail.startswith(b"HTTP/1.1 200 ")


async def test_given_id_comes_back_alone() -> None:
    """Over the wire an id is one header and nothing more."""
    async with open_site() as site:
        kept = await site.exchange(get(HOST + b"x-request-id: a b: c"))
        replaced = await site.exchange(get(HOST + b"x-request-id: a\tb"))

    assert kept.headers["x-request-id"] == "a b: c"
    assert replaced.headers["x-request-id"].startswith("req-")


# --- requests sent ahead ---


async def test_requests_sent_ahead_are_answered_in_order() -> None:
    """Whatever each of them is."""
    models = GET.replace(b"/health", b"/v1/models")
    offer = post(None, b"connection: upgrade", b"upgrade: h2c")
    async with open_site() as site, await site.connect() as wire:
        await wire.send(models + post() + GET + post(b"{") + offer + models + LAST)
        answers = [await wire.answer() for _ in range(7)]
        rest = await wire.rest()

    assert [answer.status for answer in answers] == [200, 200, 200, 400, 200, 200, 200]
    assert [answer.json().get("object") for answer in answers[:2]] == ["list", "chat.completion"]
    assert rest == b""


@pytest.mark.parametrize("request_ahead", [GET, get(HOST + b"connection: upgrade\r\nupgrade: x")])
async def test_flood_of_requests_is_cut_off(request_ahead: bytes) -> None:
    """So many may wait; the answer to the last of them says that it is the last."""
    gate = asyncio.Event()
    backend = FakeBackend(gate=gate)
    async with open_site(backend) as site, await site.connect() as wire:
        await wire.send(post())
        await until(lambda: bool(backend.requests))
        await wire.send(request_ahead * 20_000)
        gate.set()
        answers = [await wire.answer() for _ in range(1 + MOST_PIPELINED)]
        rest = await wire.rest()

    assert {answer.status for answer in answers} == {200}
    assert [answer.headers.get("connection") for answer in answers] == [None] * MOST_PIPELINED + ["close"]
    assert rest == b""


@pytest.mark.parametrize(
    ("ahead", "statuses"),
    [
        pytest.param(b"nonsense\r\n\r\n", [200, 400], id="malformed"),
        pytest.param(b"\x00", [200, 400], id="malformed from its first byte"),
        pytest.param(GET + CHUNKED + b"x\r\n", [200, 200, 400], id="malformed body"),
        pytest.param(get(HOST + b"x: a\r\n" * 200), [200, 431], id="too large"),
        pytest.param(GET[:10], [200, 408], id="too slow"),
    ],
)
async def test_refusal_waits_for_earlier_answers(ahead: bytes, statuses: list[int]) -> None:
    """What is wrong with a later request takes nothing from an earlier one."""
    gate = asyncio.Event()
    backend = FakeBackend(gate=gate)
    async with open_site(backend, header_timeout_s=0.05) as site, await site.connect() as wire:
        await wire.send(post())
        await until(lambda: bool(backend.requests))
        await wire.send(ahead)
        await asyncio.sleep(0.1)
        gate.set()
        answers = [await wire.answer() for _ in statuses]
        rest = await wire.rest()

    assert [answer.status for answer in answers] == statuses
    assert rest == b""
    assert backend.aborted == []


async def test_hanging_up_is_noticed_behind_requests_sent_ahead() -> None:
    """Requests that wait do not keep the one that runs alive."""
    backend = FakeBackend(gate=asyncio.Event())
    async with open_site(backend) as site:
        async with await site.connect() as wire:
            await wire.send(post() + GET * 3)
            await until(lambda: bool(backend.requests))
        await until(lambda: bool(backend.aborted))


# --- clients that do not read ---


async def test_answer_that_nobody_reads_is_given_up() -> None:
    """The connection is cut, so that neither it nor the answer is held for ever."""
    async with open_site(FakeBackend("x" * (1 << 24)), write_timeout_s=0.1) as site, await site.connect() as wire:
        await wire.send(post())
        await until(lambda: bool(site.server.server_state.connections))
        await until(lambda: not site.server.server_state.connections)
        data = await wire.rest()

    assert data.startswith(b"HTTP/1.1 200 ")
    assert len(data) < 1 << 24


class Endless:
    """An application that streams until its client is gone."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream."""
        if scope["type"] != "http":
            return
        assert (await receive())["type"] == "http.request"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        watching = asyncio.create_task(self._watch(receive))
        while not self.gone.is_set():
            await send({"type": "http.response.body", "body": b"x" * 65_536, "more_body": True})
            await asyncio.sleep(0)
        await watching

    async def _watch(self, receive: Receive) -> None:
        message: Message = await receive()
        assert message["type"] == "http.disconnect"
        self.gone.set()


async def test_stream_that_is_read_a_byte_at_a_time_is_given_up() -> None:
    """A few bytes now and then are no progress; the application hears that its client is gone."""
    app = Endless()
    async with open_site(app=app, write_timeout_s=0.1) as site, await site.connect() as wire:
        await wire.send(GET)
        assert (await wire.line()).startswith(b"HTTP/1.1 200 ")
        async with asyncio.timeout(10):
            while not app.gone.is_set():
                await wire.byte()
                await asyncio.sleep(0.005)
