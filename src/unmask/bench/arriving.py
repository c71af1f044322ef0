"""Runs submissions through a core on this thread as they arrive."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from unmask.clock import Clock
from unmask.core.core import Core
from unmask.sequence import Sequence, Submission

LONGEST_NAP_S = 0.01


class Arrival(NamedTuple):
    """Seconds from the start, which kind of traffic it is, and what arrives."""

    at: float
    kind: str
    submission: Submission


@dataclass(slots=True)
class Visit:
    """The stay of what arrived; listens to its sequence, and has it once that has ended.

    ``first`` is when its text began, or when it ended without any, by the clock.
    """

    arrival: Arrival
    clock: Clock = field(repr=False)
    sequence: Sequence | None = None
    first: float | None = None

    def stepped(self, sequence: Sequence) -> None:
        """Take no note of steps."""

    def grown(self, sequence: Sequence) -> None:
        """Note when text begins."""
        if self.first is None and sequence.text:
            self.first = self.clock.now()

    def ended(self, sequence: Sequence) -> None:
        """Keep the sequence."""
        if self.first is None:
            self.first = self.clock.now()
        self.sequence = sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What became of arrivals: their stays, when they began, and for how many seconds they were served."""

    visits: tuple[Visit, ...]
    start: float
    seconds: float

    def of(self, kind: str) -> list[Visit]:
        """Return the stays of one kind."""
        return [visit for visit in self.visits if visit.arrival.kind == kind]

    def waits(self, kind: str) -> list[float]:
        """Return the seconds from arrival to end; what had not ended took until the end of all at least."""
        ends = (visit.sequence.finished if visit.sequence else None for visit in self.of(kind))
        return [
            (self.seconds if end is None else min(end - self.start, self.seconds)) - visit.arrival.at
            for visit, end in zip(self.of(kind), ends, strict=True)
        ]

    def answered(self, kind: str) -> int:
        """Return how many were answered."""
        found = (visit.sequence for visit in self.of(kind))
        return sum(sequence is not None and sequence.finish_reason is not None for sequence in found)

    def tokens(self, kind: str) -> int:
        """Return the row tokens that they took, prompts included."""
        found = (visit.sequence for visit in self.of(kind))
        return sum(
            one.prefill_tokens + one.commit_tokens + one.steps * one.submission.canvas_length
            for one in found
            if one is not None
        )


def serve_arrivals(
    core: Core,
    arrivals: Iterable[Arrival],
    clock: Clock,
    sleep: Callable[[float], None],
    *,
    longest_s: float,
    watched: str | None = None,
    each_tick: Callable[[], None] = lambda: None,
) -> Served:
    """Submit each arrival when it is due, tick, and in the end abandon what has not been answered.

    A request has arrived when it was due, however late the loop comes to it, so that a slow tick counts for all.

    Args:
        core: serves them.
        arrivals: in order.
        clock: the core's.
        sleep: waits where there is nothing to do.
        longest_s: seconds after which it ends.
        watched: ends earlier, once all of this kind are answered and nothing more arrives.
        each_tick: called after every tick.
    """
    start = clock.now()
    coming = list(arrivals)[::-1]
    visits: list[Visit] = []
    ids: list[int] = []
    waited_for: list[Visit] = []
    while (now := clock.now() - start) < longest_s:
        while coming and coming[-1].at <= now:
            visit = Visit(coming.pop(), clock)
            visits.append(visit)
            submission = replace(visit.arrival.submission, arrived=start + visit.arrival.at)
            ids.append(core.submit(submission, visit))
            if visit.arrival.kind == watched:
                waited_for.append(visit)
        if not core.is_idle:
            core.tick()
            each_tick()
        elif coming:
            sleep(min(coming[-1].at - now, LONGEST_NAP_S))
        waited_for = [visit for visit in waited_for if visit.sequence is None]
        if watched is not None and not coming and not waited_for:
            break
    seconds = clock.now() - start
    for number in ids:
        core.abort(number)
    core.tick()
    return Served(visits=tuple(visits), start=start, seconds=seconds)
