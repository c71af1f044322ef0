"""Time that stands still until it is moved."""


class ManualClock:
    """A `Clock` for tests."""

    def __init__(self, start: float = 0.0) -> None:
        self._now = start

    def now(self) -> float:
        """Return the time it was last moved to."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move time forward."""
        assert seconds >= 0, "a monotonic clock never goes back"
        self._now += seconds
