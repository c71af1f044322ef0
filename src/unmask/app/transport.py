"""A transport that closes without losing the last answer, and without waiting for ever."""

import asyncio
from collections.abc import Callable
from typing import Any

LINGER_S = 1.0
"""Seconds that a client has to take a last answer and hang up, while what it still sends is thrown away."""


class ClosingTransport(asyncio.Transport):
    """Hands everything on to ``inner``; closes it in the way that the peer hears the end of.

    Closing a socket while the peer still sends resets it, and the reset may
    overtake the answer. So where a request is ``unread`` only our half is
    closed, until the peer closes its own or `LINGER_S` are over. And a plain
    close waits until all is written, which a peer that reads nothing never
    lets happen: it has ``flush_s``.
    """

    def __init__(
        self,
        inner: asyncio.Transport,
        *,
        loop: asyncio.AbstractEventLoop,
        unread: Callable[[], bool],
        flush_s: float,
    ) -> None:
        super().__init__()
        self._inner = inner
        self._loop = loop
        self._unread = unread
        self._flush_s = flush_s
        self._closing = False
        self._end: asyncio.TimerHandle | None = None

    def close(self) -> None:
        """Close once all is written."""
        if self.is_closing():
            return
        self._closing = True
        waits_s = self._flush_s if self._inner.get_write_buffer_size() else LINGER_S
        self._end = self._loop.call_later(waits_s, self._inner.abort)
        if self._unread() and self._inner.can_write_eof():
            self._inner.resume_reading()
            self._inner.write_eof()
        else:
            self._inner.close()

    def abort(self) -> None:
        """Close at once; what is not written is lost."""
        self._closing = True
        self._inner.abort()

    def lost(self) -> None:
        """Take note that the connection is gone."""
        self._closing = True
        if self._end is not None:
            self._end.cancel()

    def is_closing(self) -> bool:
        """Tell whether nothing more can be written."""
        return self._closing or self._inner.is_closing()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Write, unless the end was said."""
        if not self._closing:
            self._inner.write(data)

    def pause_reading(self) -> None:
        """Read nothing for now."""
        self._inner.pause_reading()

    def resume_reading(self) -> None:
        """Read again."""
        self._inner.resume_reading()

    def get_extra_info(self, name: str, default: Any = None) -> Any:  # noqa: ANN401 - as asyncio has it
        """Return what is known about the connection."""
        return self._inner.get_extra_info(name, default)
