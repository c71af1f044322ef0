"""How service classes share the machine, and searches its spare part: values that policies and queues go by."""

from dataclasses import dataclass, replace
from enum import StrEnum

from unmask.types import Bucket

LEAST_WEIGHT = 0.01
"""Of a class that a policy names."""
SPARE_WEIGHT = LEAST_WEIGHT / 10
SPARE = ":spare"
"""Ends the names of classes that have what others leave; no policy can name a class so."""
MOST_WIDTH = 16
"""Of a search: steps grow with its width, and what they buy does not."""


class SearchMethod(StrEnum):
    """How steps beyond one answer's are spent; each is described where it is implemented."""

    NONE = "none"
    CANDIDATES = "candidates"
    BREADTH = "breadth"
    DEPTH = "depth"
    ROLLOVER = "rollover"


class Criticality(StrEnum):
    """How much hangs on a request's answer: a policy may give each another precision."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"


class Batching(StrEnum):
    """How a batch is made up.

    ``step``: requests join and leave at every step. ``aligned``: a batch of one bucket is filled once and ends as a
    whole, for what cannot take anybody in meanwhile.
    """

    STEP = "step"
    ALIGNED = "aligned"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassTerms:
    """What a service class has of the machine.

    Attributes:
        name: of the class; that of requests under no policy is empty.
        weight: its part where classes compete, as against the others' weights.
        min_share: share of every tick's tokens that it gets while it has work; what it does not use, others may.
        max_share: most of a tick's tokens and rows that it gets, whether or not anybody else wants them.
        deadline_s: seconds from arrival in which it is answered; ``None``: whenever.
        is_interactive: whether somebody waits for its answers; ticks are shorter while such work is there.
    """

    name: str = ""
    weight: float = 1.0
    min_share: float = 0.0
    max_share: float = 1.0
    deadline_s: float | None = None
    is_interactive: bool = False

    @property
    def spare(self) -> "ClassTerms":
        """Those of work that nobody waits for: it yields to every class, and is in no hurry."""
        return replace(
            self,
            name=f"{self.name}{SPARE}",
            weight=SPARE_WEIGHT,
            min_share=0.0,
            deadline_s=None,
            is_interactive=False,
        )

    @property
    def origin(self) -> str:
        """The name of the class, or of the one whose spare work this is."""
        return self.name.removesuffix(SPARE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallerBudget:
    """A budget that a request may be given in place of its own, where that one would be too late."""

    bucket: Bucket
    max_steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Holds:
    """How often an idle engine waited for a batch to fill, for how long together, and how many came meanwhile."""

    count: int = 0
    seconds: float = 0.0
    joined: int = 0

    def __add__(self, other: "Holds") -> "Holds":
        """Return the sums of two engines."""
        return Holds(
            count=self.count + other.count,
            seconds=self.seconds + other.seconds,
            joined=self.joined + other.joined,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLoad:
    """The requests of one class and bucket that wait.

    Attributes:
        bucket: ``None`` holds requests without one.
        waiting: how many.
        oldest_s: seconds since the one that has waited longest arrived.
        patience_s: the wait from which on it counts as behind: its class's deadline, or the queue's patience.
        admitted: how many have been given a place in a batch since the start.
        waited_s: seconds that these have waited, all together.
    """

    service_class: str
    bucket: Bucket | None
    waiting: int
    oldest_s: float
    patience_s: float
    admitted: int
    waited_s: float

    @property
    def is_spare(self) -> bool:
        """Whether these are of work that nobody waits for."""
        return self.service_class.endswith(SPARE)

    @property
    def is_behind(self) -> bool:
        """Whether somebody has waited for too long."""
        return self.waiting > 0 and self.oldest_s > self.patience_s


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassWork:
    """What a service class has to do, and how long that takes at the pace of late.

    Attributes:
        forwards: full ones that all that runs and waits is expected to take.
        drain_s: seconds until these are done, at the class's part of the machine.
        slack_s: how long its requests may wait: its deadline, or the queue's patience.
    """

    service_class: str
    forwards: float
    drain_s: float
    slack_s: float

    @property
    def pressure(self) -> float:
        """Share of the slack that the work takes; above 1 whoever arrives now is late."""
        return self.drain_s / self.slack_s
