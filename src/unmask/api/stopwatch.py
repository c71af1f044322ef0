"""Measures what a call costs beside its generation."""

from collections.abc import Iterator
from contextlib import contextmanager

from unmask.clock import Clock


class Stopwatch:
    """Time of one call in this server and outside the backend.

    It runs from the call's arrival until the generations are handed over, and
    again from the latest thing that the backend says.

    Args:
        clock: monotonic.
        arrived: when the application got the call, on that clock.
    """

    def __init__(self, clock: Clock, arrived: float) -> None:
        self._clock = clock
        self._since: float | None = arrived
        self._past = 0.0

    def hand_over(self) -> None:
        """Stop: the backend has the call."""
        if self._since is not None:
            self._past += self._clock.now() - self._since
        self._since = None

    def come_back(self) -> None:
        """Start again from now: the backend has said something, and what follows may be ours."""
        self._since = self._clock.now()

    @contextmanager
    def elsewhere(self) -> Iterator[None]:
        """Stop for as long as the block runs: it waits for what the backend says to another call."""
        self.hand_over()
        try:
            yield
        finally:
            self.come_back()

    def overhead_s(self) -> float:
        """Return the seconds so far."""
        return self._past + (0.0 if self._since is None else self._clock.now() - self._since)
