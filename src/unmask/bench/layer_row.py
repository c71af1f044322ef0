"""What a row of the layers bench is: a layer off and on, its figure, and the quality that the figure costs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from unmask.bench.bench import Bench
from unmask.bench.layers_workload import Workload
from unmask.bench.report import Figure, Record

ROUNDS = 10


class Layer(StrEnum):
    """In the order in which rows are run."""

    ENGINE = "engine"
    SERVICE = "service"
    MODEL = "model"
    BUSINESS = "business"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How a row is judged.

    Attributes:
        target: the least that the figure's lower end must reach; nothing where none is set.
        least_quality: the same of the paired quality difference.
        saving: the registered saving that the row measures, which may be enabled once its figures are kept.
        rounds: of a full run; one where intervals are of requests and not of rounds.
    """

    target: float | None = None
    least_quality: float | None = None
    saving: str | None = None
    rounds: int = ROUNDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What every row stands on: one workload, and time as it passes.

    Attributes:
        bench: what is measured; its precision is that of arms where nothing else is said.
        workload: the same for every row.
        seed: of order and arrivals.
        rounds: how many there are of the row, for rows that ask another part of the requests in each.
        is_quick: whether nothing is to be decided.
        sleep: waits, in seconds.
        processor: seconds that this process has had of all processors.
    """

    bench: Bench
    workload: Workload
    seed: int
    rounds: int
    is_quick: bool
    sleep: Callable[[float], None]
    processor: Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Something that was read off an arm in a round: a value, or one a request."""

    name: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What an arm did in a round.

    ``answers`` are those that quality is compared by, the same requests in the same order in both arms. A row that asks
    the same in every round has them in one alone.
    """

    readings: tuple[Reading, ...]
    answers: tuple[Record, ...] = ()

    def values(self, name: str) -> tuple[float, ...]:
        """Return a reading's values; an unknown one is a ``KeyError``."""
        return {reading.name: reading.values for reading in self.readings}[name]

    def value(self, name: str) -> float:
        """Return the value of a reading that has one."""
        (found,) = self.values(name)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """A row measured once, both arms side by side."""

    off: Sample
    on: Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a row's rounds come to.

    Attributes:
        figure: named as the row, with its interval.
        beside: what explains it; names start with the row's and ``off`` or ``on`` where they are an arm's.
        reason: by what was measured, what stands between the figure and more; shown where the target is missed.
        saved: the share that the row's registered saving saves, where the figure itself says something else.
        counted: which answers count for quality.
    """

    figure: Figure
    beside: tuple[Figure, ...]
    reason: str
    saved: Figure | None = None
    counted: str = "right"


class LayerRow(Protocol):
    """One row. It depends on no other, so that it may be run alone, and keeps nothing between rounds."""

    @property
    def name(self) -> str:
        """Of the row and of its figure."""
        ...

    @property
    def layer(self) -> Layer:
        """Which layer is off and on."""
        ...

    @property
    def off(self) -> str:
        """What the first arm is, in a few words."""
        ...

    @property
    def on(self) -> str:
        """What the second arm is."""
        ...

    @property
    def terms(self) -> Terms:
        """How it is judged."""
        ...

    def measure(self, ground: Ground, number: int) -> Round:
        """Run both arms, in an order that changes from round to round."""
        ...

    def judge(self, rounds: Sequence[Round], seed: int) -> Finding:
        """Return the figure of all rounds."""
        ...
