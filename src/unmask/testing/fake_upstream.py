"""A server of the OpenAI API that misbehaves as a test wants, down to its bytes."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

Json = dict[str, object]
STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
DONE = b"data: [DONE]\n\n"


@dataclass(slots=True, kw_only=True)
class Exchange:
    """One request that arrived, and the connection to answer it on."""

    target: str
    headers: dict[str, str]
    body: bytes
    writer: asyncio.StreamWriter
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the client has hung up."""

    @property
    def json(self) -> Json:
        """The parsed body."""
        parsed: Json = json.loads(self.body)
        return parsed

    async def send(self, *pieces: bytes) -> None:
        """Send pieces, each in a segment of its own as far as the network keeps them apart."""
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()
            await asyncio.sleep(0)

    def reset(self) -> None:
        """Break the connection."""
        self.writer.transport.abort()


Script = Callable[[Exchange], Awaitable[None]]


class FakeUpstream:
    """Listens on a free port; each request runs the next script, and the last script for ever.

    Args:
        scripts: write the answers, head included; the connection closes at their end.
    """

    def __init__(self, *scripts: Script) -> None:
        self._scripts = scripts
        self.exchanges: list[Exchange] = []
        self.url = ""
        """Base of its API."""

    @asynccontextmanager
    async def listening(self) -> AsyncIterator["FakeUpstream"]:
        """Listen for as long as the block runs."""
        tasks = set[asyncio.Task[None]]()

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            tasks.add(asyncio.create_task(self._serve(reader, writer)))

        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        try:
            yield self
        finally:
            server.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            exchange = await _read(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()
            return
        script = self._scripts[min(len(self.exchanges), len(self._scripts) - 1)]
        self.exchanges.append(exchange)
        watching = asyncio.create_task(_watch(reader, exchange))
        try:
            await script(exchange)
        except ConnectionError:
            # The client hung up, which is for the test to say whether it should have.
            exchange.gone.set()
        finally:
            watching.cancel()
            writer.close()


async def _read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Exchange:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Exchange(target=first.split(" ")[1], headers=headers, body=body, writer=writer)


async def _watch(reader: asyncio.StreamReader, exchange: Exchange) -> None:
    try:
        while await reader.read(1 << 16):
            pass
    except ConnectionError:
        pass
    exchange.gone.set()


def chunk(text: str | None = None, **fields: object) -> bytes:
    """Return an event with a chunk that brings text, or what else of a choice is named."""
    choice: Json = {"index": 0, "delta": {} if text is None else {"content": text}, "finish_reason": None} | fields
    return event({"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]})


def event(value: object) -> bytes:
    """Return an event that carries JSON, other scripts than Latin unescaped."""
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"


def usage_event(prompt: int = 7, completion: int = 3, **fields: object) -> bytes:
    """Return the event that says what the answer cost."""
    usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion} | fields
    return event({"id": "c", "model": "m", "choices": [], "usage": usage})


def answer(text: str, *, finish: str = "stop") -> tuple[bytes, ...]:
    """Return the events of a whole answer, a chunk a character."""
    return (
        chunk(None, delta={"role": "assistant", "content": ""}),
        *(chunk(letter) for letter in text),
        chunk(None, finish_reason=finish),
        usage_event(),
        DONE,
    )


def streaming(*pieces: bytes) -> Script:
    """Return a script that answers with a stream of these bytes."""

    async def script(exchange: Exchange) -> None:
        await exchange.send(STREAM_HEAD, *pieces)

    return script


def answering(status: int, body: bytes = b"", **headers: str) -> Script:
    """Return a script that answers with a status and a body; underscores in names of headers are hyphens."""
    given = {"content-type": "application/json"} | {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in given.items())
    head = f"HTTP/1.1 {status} Status\r\n{lines}content-length: {len(body)}\r\nconnection: close\r\n\r\n"

    async def script(exchange: Exchange) -> None:
        await exchange.send(head.encode("latin-1") + body)

    return script


async def resetting(exchange: Exchange) -> None:
    """Break the connection in place of an answer."""
    exchange.reset()


def silent(*pieces: bytes) -> Script:
    """Return a script that sends these bytes and then nothing, until the client hangs up."""

    async def script(exchange: Exchange) -> None:
        await exchange.send(*pieces)
        await exchange.gone.wait()

    return script


def endless(piece: bytes) -> Script:
    """Return a script that streams the same bytes for ever."""

    async def script(exchange: Exchange) -> None:
        await exchange.send(STREAM_HEAD)
        while not exchange.gone.is_set():
            await exchange.send(piece)

    return script
