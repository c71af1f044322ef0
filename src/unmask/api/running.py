"""What runs in this server, and whether more may."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

from unmask.api.errors import RETRY_AFTER_S
from unmask.errors import DrainingError, InvalidRequestError, QueueFullError


class Running:
    """Generations in flight; told when the server starts to drain, and when it waits no longer.

    There are at most ``limit`` of a service class: a flood in one leaves the others their places. The class of
    requests under no policy is ``""``.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._draining = False
        self._generations: set[asyncio.Future[Any]] = set()
        self._by_class: Counter[str] = Counter()

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
        """Most requests of a class in flight."""
        return self._limit

    @property
    def is_draining(self) -> bool:
        """Whether the server shuts down."""
        return self._draining

    def reasons(self) -> tuple[str, ...]:
        """Say why the server takes no requests; empty while it does."""
        full = bool(self._by_class) and all(count >= self._limit for count in self._by_class.values())
        found = (("draining", self._draining), ("queue full", full))
        return tuple(reason for reason, holds in found if holds)

    def check(self, more: int = 1, service_class: str = "") -> None:
        """Raise what keeps so many more generations of a class out.

        Raises:
            DrainingError: the server is shutting down.
            InvalidRequestError: there never is room for as many.
            QueueFullError: there is no room at present.
        """
        if self._draining:
            raise DrainingError("The server is shutting down and takes nothing new. Send the request to another one.")
        if more > self._limit:
            raise InvalidRequestError("n", f"{more} choices", f"at most {self._limit} choices", "Make several calls.")
        count = self._by_class[service_class]
        if count + more > self._limit:
            of_class = f" of class {service_class}" if service_class else ""
            raise QueueFullError(
                f"{count} requests{of_class} run or wait, and no more than {self._limit} may. "
                "Send the request again later.",
                retry_after_s=RETRY_AFTER_S,
            )

    @contextlib.contextmanager
    def track(self, *generations: asyncio.Future[Any], service_class: str = "") -> Iterator[None]:
        """Count generations for as long as the block runs, all of them or none: raise as `check` does."""
        self.check(len(generations), service_class)
        self._generations.update(generations)
        self._by_class[service_class] += len(generations)
        try:
            yield
        finally:
            self._generations.difference_update(generations)
            self._by_class[service_class] -= len(generations)
