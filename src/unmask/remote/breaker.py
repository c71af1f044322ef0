"""A circuit breaker: what fails again and again is left alone, and tried by one request after a while.

The pattern is that of M. Nygard, "Release It!", 2007, chapter 5: closed, open, half-open.
"""

from enum import StrEnum

from unmask.clock import Clock
from unmask.remote.errors import CircuitOpenError
from unmask.remote.settings import Breaking


class Circuit(StrEnum):
    """Whether requests go through. ``half_open``: one does, and what becomes of it decides."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Breaker:
    """The circuit of one upstream.

    Args:
        upstream: named in errors.
        clock: by which it stays open.
    """

    def __init__(self, upstream: str, settings: Breaking, clock: Clock) -> None:
        self._upstream = upstream
        self._settings = settings
        self._clock = clock
        self._failures = 0
        self._opened: float | None = None
        self._is_trying = False
        self._reason = ""

    @property
    def circuit(self) -> Circuit:
        """Its state at this moment."""
        if self._opened is None:
            return Circuit.CLOSED
        return Circuit.OPEN if self.left_s > 0 else Circuit.HALF_OPEN

    @property
    def left_s(self) -> float:
        """Seconds until it lets a request through again."""
        if self._opened is None:
            return 0.0
        return max(0.0, self._opened + self._settings.open - self._clock.now())

    @property
    def takes(self) -> bool:
        """Whether it would let a request through."""
        match self.circuit:
            case Circuit.CLOSED:
                return True
            case Circuit.OPEN:
                return False
            case Circuit.HALF_OPEN:
                return not self._is_trying

    @property
    def problem(self) -> str | None:
        """Why requests do not go through; nothing while they do.

        One may go through after a while, and then nothing is said of it: who sends requests by what is said here would
        else never send the one that shows whether the upstream is well again.
        """
        if self.circuit is not Circuit.OPEN:
            return None
        return f"upstream {self._upstream} has failed {self._failures} times in a row, lastly: {self._reason}"

    def enter(self) -> None:
        """Let a request through; one of `succeed`, `fail` and `leave` has to follow.

        Raises:
            CircuitOpenError: it does not go through.
        """
        if not self.takes:
            raise self.error()
        self._is_trying = self.circuit is Circuit.HALF_OPEN

    def error(self) -> CircuitOpenError:
        """Return what a request is told that does not go through."""
        left = self.left_s or 1.0
        return CircuitOpenError(
            self._upstream,
            f"it has failed {self._failures} times in a row and is left alone; lastly: {self._reason}",
            retry_after_s=left,
        )

    def succeed(self) -> None:
        """Take note that a request was answered."""
        self._failures = 0
        self._opened = None
        self._is_trying = False
        self._reason = ""

    def fail(self, reason: str) -> None:
        """Take note that a request failed for a reason that speaks against the upstream."""
        self._failures += 1
        self._reason = reason
        self._is_trying = False
        # They are counted until one succeeds, so a single failed trial opens it again.
        if self._failures >= self._settings.failures:
            self._opened = self._clock.now()

    def leave(self) -> None:
        """Take note that a request ended in a way that tells nothing: its caller left, or it was refused."""
        self._is_trying = False
