"""What runs in this server, and whether more may."""

import asyncio
import contextlib
from collections.abc import Iterator

from unmask.api.errors import RETRY_AFTER_S
from unmask.backend import Generation
from unmask.errors import DrainingError, QueueFullError


class Running:
    """Requests in flight, at most ``limit``; told when the server starts to drain, and when it waits no longer."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._draining = False
        self._generations: set[asyncio.Future[Generation]] = set()

    def begin_drain(self) -> None:
        """Refuse requests from here on."""
        self._draining = True

    def cut_off(self) -> int:
        """Stop every generation, so that its client hears of it at once; return how many there were."""
        for generation in self._generations:
            generation.cancel()
        return len(self._generations)

    @property
    def count(self) -> int:
        """Number of requests in flight."""
        return len(self._generations)

    def reasons(self) -> tuple[str, ...]:
        """Say why the server takes no requests; empty while it does."""
        return ("draining",) if self._draining else ()

    def check(self) -> None:
        """Raise what keeps one more request out: `DrainingError` or `QueueFullError`."""
        if self._draining:
            raise DrainingError("The server is shutting down and takes nothing new. Send the request to another one.")
        if self.count >= self._limit:
            raise QueueFullError(
                f"{self._limit} requests run or wait, which is as many as may. Send the request again later.",
                retry_after_s=RETRY_AFTER_S,
            )

    @contextlib.contextmanager
    def track(self, generation: asyncio.Future[Generation]) -> Iterator[None]:
        """Count a generation for as long as the block runs; raise as `check` does where it is one too many."""
        self.check()
        self._generations.add(generation)
        try:
            yield
        finally:
            self._generations.discard(generation)
