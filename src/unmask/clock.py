"""Time as an argument: whoever waits or measures is handed a clock."""

import time
from typing import Protocol


class Clock(Protocol):
    """A source of monotonic time. Never wall-clock time: differences are all it is good for."""

    def now(self) -> float:
        """Return seconds since an arbitrary origin; never less than what was returned before."""
        ...


class SystemClock:
    """The machine's monotonic clock."""

    def now(self) -> float:
        """Return the machine's monotonic seconds."""
        return time.monotonic()


class WallClock(Protocol):
    """The time of day, to write down when something was. It may be set back, so differences mean little."""

    def time(self) -> float:
        """Return seconds since 1970, UTC."""
        ...


class SystemWallClock:
    """The machine's time of day."""

    def time(self) -> float:
        """Return the machine's seconds since 1970."""
        return time.time()
