"""Connections to an upstream outlive the answers that come over them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.remote.remotes import make_request, make_settings, texts
from unmask.remote.opening import open_backend
from unmask.remote.settings import RemoteSettings
from unmask.testing.fake_upstream import answer

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


@dataclass(slots=True, kw_only=True)
class KeepingUpstream:
    """A server that answers request after request over a connection.

    Attributes:
        ends: whether it ends the transfer of an answer after the last of its events.
        connections: how many clients have opened.
    """

    ends: bool = True
    connections: int = 0
    url: str = ""
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer until the client hangs up."""
        self.connections += 1
        self.writers.append(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    int(line.partition(b":")[2])
                    for line in head.lower().split(b"\r\n")
                    if line.startswith(b"content-length")
                )
                await reader.readexactly(length)
                events = b"".join(answer("안녕"))
                writer.write(HEAD + f"{len(events):x}\r\n".encode() + events + b"\r\n")
                await writer.drain()
                # The end of the transfer is a packet of its own, as servers write it.
                await asyncio.sleep(0.001)
                writer.write(END if self.ends else b"")
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


@asynccontextmanager
async def keeping(*, ends: bool = True) -> AsyncIterator[KeepingUpstream]:
    """Run such a server for as long as the block runs."""
    upstream = KeepingUpstream(ends=ends)
    server = await asyncio.start_server(upstream.serve, "127.0.0.1", 0)
    upstream.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield upstream
    finally:
        server.close()
        for writer in upstream.writers:
            writer.close()


async def test_answers_follow_one_another_over_one_connection() -> None:
    """An answer that ends well leaves its connection to the next request."""
    async with keeping() as upstream:
        backend = open_backend(RemoteSettings(models=(make_settings(upstream.url),)))
        for _ in range(5):
            pieces, _generation = await texts(backend, make_request())
            assert "".join(pieces) == "안녕"
        await backend.drain()

    assert upstream.connections == 1


async def test_an_answer_whose_transfer_never_ends_is_whole_nevertheless() -> None:
    """It costs its connection, and the next request opens another."""
    async with keeping(ends=False) as upstream:
        backend = open_backend(RemoteSettings(models=(make_settings(upstream.url),)))
        for _ in range(2):
            _pieces, generation = await texts(backend, make_request())
            assert generation.text == "안녕"
        await backend.drain()

    assert upstream.connections == 2
