"""Runs submissions through a core on this thread, as fast as it goes."""

from collections.abc import Callable
from collections.abc import Sequence as Items
from dataclasses import dataclass, field

from unmask.clock import Clock
from unmask.core.core import Core
from unmask.sequence import Sequence, Submission


@dataclass(slots=True)
class _Collector:
    ended_at: dict[int, Sequence] = field(default_factory=dict)

    def stepped(self, sequence: Sequence) -> None:
        pass

    def grown(self, sequence: Sequence) -> None:
        pass

    def ended(self, sequence: Sequence) -> None:
        self.ended_at[sequence.id] = sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Drive:
    """A run's sequences in the order submitted, and its wall time in seconds."""

    sequences: tuple[Sequence, ...]
    seconds: float


def drive(
    core: Core, submissions: Items[Submission], clock: Clock, *, each_tick: Callable[[Core], None] = lambda _: None
) -> Drive:
    """Submit everything at once and tick until all have ended; ``each_tick`` is called after every tick."""
    collector = _Collector()
    started = clock.now()
    ids = [core.submit(submission, collector) for submission in submissions]
    while not core.is_idle:
        core.tick()
        each_tick(core)
    seconds = clock.now() - started
    return Drive(sequences=tuple(collector.ended_at[number] for number in ids), seconds=seconds)
