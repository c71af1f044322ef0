"""Who waits for a place at the servers of a model, and how long places are held: how busy they look from here."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil
from statistics import fmean

from unmask.clock import Clock
from unmask.service import ClassTerms, ClassWork, QueueLoad

REMEMBERED = 64
"""Answers whose times are remembered, the latest ones."""
LEAST_ENDED = 8
"""Before so many nothing is predicted."""
PATIENCE_S = 60.0
"""How long a request may wait whose class has no deadline, as it may by default for a place in an engine's batch."""


@dataclass(slots=True, kw_only=True, eq=False)
class Visit:
    """A request that waits for a place, and has it from ``began`` on."""

    service_class: str
    arrived: float
    began: float | None = None


@dataclass(slots=True, kw_only=True)
class _Class:
    slack_s: float
    admitted: int = 0
    waited_s: float = 0.0
    visits: list[Visit] = field(default_factory=list)

    @property
    def waiting(self) -> list[Visit]:
        return [visit for visit in self.visits if visit.began is None]


class Places:
    """The places that requests for one model have at its servers.

    Args:
        clock: of waits and answers.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._classes: dict[str, _Class] = {}
        self._held: deque[float] = deque(maxlen=REMEMBERED)

    @contextmanager
    def visit(self, terms: ClassTerms, longest_s: float) -> Iterator[Visit]:
        """Count a request for as long as the block runs; one that ends well tells how long a place is held.

        Args:
            terms: of its class.
            longest_s: the longest wait after which it is given up.
        """
        of_class = self._classes.setdefault(terms.name, _Class(slack_s=PATIENCE_S))
        of_class.slack_s = min(longest_s, PATIENCE_S if terms.deadline_s is None else terms.deadline_s)
        visit = Visit(service_class=terms.name, arrived=self._clock.now())
        of_class.visits.append(visit)
        try:
            yield visit
            if visit.began is not None:
                self._held.append(self._clock.now() - visit.began)
        finally:
            of_class.visits.remove(visit)

    def begin(self, visit: Visit) -> None:
        """Take note that a request has its place."""
        visit.began = self._clock.now()
        of_class = self._classes[visit.service_class]
        of_class.admitted += 1
        of_class.waited_s += visit.began - visit.arrived

    def queues(self) -> tuple[QueueLoad, ...]:
        """Return who waits, by class."""
        now = self._clock.now()
        return tuple(
            QueueLoad(
                service_class=name,
                bucket=None,
                waiting=len(of_class.waiting),
                oldest_s=max((now - visit.arrived for visit in of_class.waiting), default=0.0),
                patience_s=of_class.slack_s,
                admitted=of_class.admitted,
                waited_s=of_class.waited_s,
            )
            for name, of_class in self._classes.items()
        )

    def works(self, places: int) -> tuple[ClassWork, ...]:
        """Return how long it takes until all that wait now have a place: each class waits for all, in one line.

        Nothing is said of forwards, which are the servers' own.

        Args:
            places: how many there are.
        """
        if len(self._held) < LEAST_ENDED or not places:
            return ()
        waiting = sum(len(of_class.waiting) for of_class in self._classes.values())
        drain_s = waiting * fmean(self._held) / places
        return tuple(
            ClassWork(service_class=name, forwards=0.0, drain_s=drain_s, slack_s=of_class.slack_s)
            for name, of_class in self._classes.items()
            if of_class.visits
        )

    @property
    def held_p95_s(self) -> float | None:
        """95th percentile of how long places are held; ``None`` before enough of them were."""
        if len(self._held) < LEAST_ENDED:
            return None
        return sorted(self._held)[ceil(0.95 * len(self._held)) - 1]
