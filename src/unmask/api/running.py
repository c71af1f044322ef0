"""What runs in this server, and whether more may."""

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any

from unmask.api.errors import RETRY_AFTER_S
from unmask.errors import DrainingError, InvalidRequestError, QueueFullError


class Running:
    """Generations in flight, at most ``limit``; told when the server starts to drain, and when it waits no longer."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._draining = False
        self._generations: set[asyncio.Future[Any]] = set()

    def begin_drain(self) -> None:
        """Refuse requests from here on."""
        self._draining = True

    def cut_off(self) -> int:
        """Stop every generation, so that its client hears of it at once; return how many there were."""
        return sum(generation.cancel() for generation in self._generations)

    @property
    def count(self) -> int:
        """Number of generations whose calls are not answered yet."""
        return len(self._generations)

    @property
    def limit(self) -> int:
        """Most requests in flight."""
        return self._limit

    @property
    def is_draining(self) -> bool:
        """Whether the server shuts down."""
        return self._draining

    def reasons(self) -> tuple[str, ...]:
        """Say why the server takes no requests; empty while it does."""
        found = (("draining", self._draining), ("queue full", self.count >= self._limit))
        return tuple(reason for reason, holds in found if holds)

    def check(self, more: int = 1) -> None:
        """Raise what keeps so many more generations out.

        Raises:
            DrainingError: the server is shutting down.
            InvalidRequestError: there never is room for as many.
            QueueFullError: there is no room at present.
        """
        if self._draining:
            raise DrainingError("The server is shutting down and takes nothing new. Send the request to another one.")
        if more > self._limit:
            raise InvalidRequestError("n", f"{more} choices", f"at most {self._limit} choices", "Make several calls.")
        if self.count + more > self._limit:
            raise QueueFullError(
                f"{self.count} requests run or wait, and no more than {self._limit} may. Send the request again later.",
                retry_after_s=RETRY_AFTER_S,
            )

    @contextlib.contextmanager
    def track(self, *generations: asyncio.Future[Any]) -> Iterator[None]:
        """Count generations for as long as the block runs, all of them or none: raise as `check` does."""
        self.check(len(generations))
        self._generations.update(generations)
        try:
            yield
        finally:
            self._generations.difference_update(generations)
