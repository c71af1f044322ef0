"""Reads the counters of an upstream around each request that it is sent."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from unmask.remote.counters import Counters, CountersError, read_counters
from unmask.remote.errors import UpstreamError
from unmask.remote.estimate import Asked, Estimate, estimated
from unmask.remote.upstream import Deadlines, Upstream

_LOG = logging.getLogger(__name__)
LARGEST_PAGE = 8 << 20


@dataclass(slots=True, kw_only=True, eq=False)
class Window:
    """The time that a request is at an upstream, between two readings of its counters."""

    meter: "Meter"
    is_alone: bool = True
    before: Counters | None = None
    after: Counters | None = None

    async def begin(self, deadlines: Deadlines) -> None:
        """Read the counters; before anything of the request is sent."""
        self.meter.open(self)
        self.before = await self.meter.read(deadlines)

    async def end(self, deadlines: Deadlines) -> None:
        """Read them again; once the answer is whole."""
        if self.before is not None:
            self.after = await self.meter.read(deadlines)

    def estimate(self, asked: Asked) -> Estimate | None:
        """Say what the request took; nothing where that cannot be told."""
        if self.before is None or self.after is None:
            return None
        found = estimated(self.before, self.after, asked, is_alone=self.is_alone)
        if found is not None and found.ignores_cap:
            self.meter.tell_of(found, asked)
        return found


class Meter:
    """The counters of one upstream.

    Args:
        upstream: whose.
        path: of the page that they stand on.
    """

    def __init__(self, upstream: Upstream, path: str) -> None:
        self._upstream = upstream
        self._path = path
        self._open = set[Window]()
        self._has_told = set[str]()

    @contextmanager
    def window(self) -> Iterator[Window]:
        """Make a window that is closed when the block ends; those that overlap are not alone."""
        window = Window(meter=self)
        try:
            yield window
        finally:
            self._open.discard(window)

    def open(self, window: Window) -> None:
        """Take note that a window begins."""
        for other in self._open:
            other.is_alone = window.is_alone = False
        self._open.add(window)

    async def read(self, deadlines: Deadlines) -> Counters | None:
        """Return the counters; nothing where they cannot be had, as the answer is worth more than what it took."""
        try:
            return read_counters(await self._upstream.page(self._path, deadlines, LARGEST_PAGE))
        except (UpstreamError, CountersError) as error:
            self._tell(f"Steps of upstream {self._upstream.name} stay unknown", str(error))
            return None

    def tell_of(self, estimate: Estimate, asked: Asked) -> None:
        """Log that a cap was not kept."""
        self._tell(
            f"Upstream {self._upstream.name} does not keep to diffusion_max_steps",
            f"{estimate.steps} steps by its counters, where a canvas may take {asked.allowance.steps}",
        )

    def _tell(self, what: str, reason: str) -> None:
        """Log something once: it is so with every request."""
        if what not in self._has_told:
            _LOG.warning("%s: %s", what, reason)
            self._has_told.add(what)
