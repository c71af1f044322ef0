"""Shows how far a long bench is, and says how long it will take."""

from collections.abc import Callable

from unmask.clock import Clock

Progress = Callable[[str, float], None]
Say = Callable[[str], None]
ENOUGH = 150
"""Runs after which the pace is told."""


class Pace:
    """Counts runs against those expected; says the expected time once the first of them are done."""

    def __init__(self, clock: Clock, progress: Progress, say: Say) -> None:
        self._clock = clock
        self._progress = progress
        self._say = say
        self._stage = "starting"
        self._started = clock.now()
        self._done = 0
        self._expected = 1
        self._is_said = False

    def stage(self, name: str, left: int) -> None:
        """Begin a stage; ``left`` runs are expected from here on, later stages included."""
        self._stage = name
        self._expected = self._done + max(left, 1)
        self._is_said = False
        self._progress(name, self._done / self._expected)
        if self._done >= ENOUGH:
            self._tell()

    def done(self, count: int) -> None:
        """Take note of runs that have ended."""
        self._done += count
        self._progress(self._stage, min(1.0, self._done / self._expected))
        if self._done >= ENOUGH and not self._is_said:
            self._tell()

    def _tell(self) -> None:
        self._is_said = True
        left = max(self._expected - self._done, 0)
        minutes = (self._clock.now() - self._started) / self._done * left / 60
        self._say(f"{self._stage}: {left} runs to go, about {minutes:.0f} minutes at the pace so far")
