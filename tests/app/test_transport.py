"""Behaviour of `unmask.app.transport`."""

import asyncio

import pytest

from tests.app.site import CHAT, HOST, open_site
from unmask.app import transport as transport_module
from unmask.app.transport import ClosingTransport
from unmask.testing.waiting import until


class Inner(asyncio.Transport):
    """A transport that notes what it is told."""

    def __init__(self, *, unwritten: int = 0, half_closes: bool = True) -> None:
        super().__init__()
        self.told: list[str] = []
        self._unwritten = unwritten
        self._half_closes = half_closes

    def get_write_buffer_size(self) -> int:
        """Say how much waits to be written."""
        return self._unwritten

    def can_write_eof(self) -> bool:
        """Say whether our half can be closed alone."""
        return self._half_closes

    def is_closing(self) -> bool:
        """Say whether it was closed."""
        return "close" in self.told or "abort" in self.told

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Note it."""
        self.told.append(bytes(data).decode())

    def write_eof(self) -> None:
        """Note it."""
        self.told.append("eof")

    def resume_reading(self) -> None:
        """Note it."""
        self.told.append("read on")

    def close(self) -> None:
        """Note it."""
        self.told.append("close")

    def abort(self) -> None:
        """Note it."""
        self.told.append("abort")


def closing(inner: Inner, *, unread: bool = False, flush_s: float = 3600) -> ClosingTransport:
    """Wrap a transport."""
    loop = asyncio.get_running_loop()
    return ClosingTransport(inner, loop=loop, unread=lambda: unread, flush_s=flush_s)


async def test_closes_outright_where_nothing_is_unread() -> None:
    """As any transport does, and once."""
    inner = Inner()
    transport = closing(inner)
    transport.write(b"answer")
    transport.close()
    transport.write(b"more")
    transport.close()

    assert inner.told == ["answer", "close"]
    assert transport.is_closing()
    transport.lost()


@pytest.mark.parametrize("half_closes", [True, False])
async def test_closes_one_half_where_the_peer_still_sends(half_closes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """And reads on, until its time is up; what cannot be closed by halves is closed."""
    monkeypatch.setattr(transport_module, "LINGER_S", 0.01)
    inner = Inner(half_closes=half_closes)
    closing(inner, unread=True).close()
    told = list(inner.told)
    await until(lambda: inner.told[-1] == "abort")

    assert told == (["read on", "eof"] if half_closes else ["close"])


async def test_what_is_not_read_in_time_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """A close waits for its last bytes as long as it was told to."""
    monkeypatch.setattr(transport_module, "LINGER_S", 3600)
    inner = Inner(unwritten=9)
    closing(inner, flush_s=0.01).close()
    await until(lambda: inner.told == ["close", "abort"])


async def test_lost_connection_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """No timer outlives the connection."""
    monkeypatch.setattr(transport_module, "LINGER_S", 0.01)
    inner = Inner()
    transport = closing(inner)
    transport.close()
    transport.lost()
    await asyncio.sleep(0.05)

    assert inner.told == ["close"]


POST = b"POST %s HTTP/1.1\r\n%s" % (CHAT.encode(), HOST)


@pytest.mark.parametrize(
    ("head", "status"),
    [
        pytest.param(POST + b"content-length: 8388608\r\n\r\n", 413, id="declared"),
        pytest.param(POST + b"transfer-encoding: chunked\r\n\r\nffffff\r\n", 413, id="chunked"),
        pytest.param(b"GET / HTTP/1.1\r\nx: ", 431, id="header"),
        pytest.param(b"nonsense", 400, id="malformed"),
    ],
)
async def test_refusal_reaches_who_sends_first_and_reads_then(head: bytes, status: int) -> None:
    """Most clients do; were the connection reset under them, they would never read why."""
    async with open_site() as site, await site.connect() as wire:
        taken = await wire.send(head + b" " * (8 << 20))
        answer, rest = await wire.answer(), await wire.rest()

    assert taken
    assert (answer.status, rest) == (status, b"")


async def test_who_never_hangs_up_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused client has a moment to go by itself."""
    monkeypatch.setattr(transport_module, "LINGER_S", 0.05)
    async with open_site() as site, await site.connect() as wire:
        await wire.send(b"nonsense")
        await wire.answer()
        await until(lambda: not site.server.server_state.connections)
