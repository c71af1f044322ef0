"""Takes nothing new and waits for what runs: how whatever serves requests comes to its end."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from unmask.errors import DrainingError


class Drain:
    """Counts what is open; belongs to one event loop."""

    def __init__(self) -> None:
        self._open = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._has_begun = False

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Keep a request open for as long as the block runs.

        Raises:
            DrainingError: nothing new is taken.
        """
        if self._has_begun:
            raise DrainingError("the server is shutting down; send the request to another one")
        self._open += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._open -= 1
            if not self._open:
                self._idle.set()

    async def run(self) -> None:
        """Take nothing new from now on, and wait for what is open."""
        self._has_begun = True
        await self._idle.wait()
