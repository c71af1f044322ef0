"""What a row of the layers bench is: a layer off and on, its figure, and the quality that the figure costs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from unmask.bench.bench import Bench
from unmask.bench.layers_workload import Workload
from unmask.bench.report import Figure
from unmask.bench.trial import Answer


class Layer(StrEnum):
    """In the order in which rows are run."""

    ENGINE = "engine"
    SERVICE = "service"
    MODEL = "model"
    BUSINESS = "business"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What every row stands on: one workload, and time as it passes.

    Attributes:
        bench: what is measured; its precision is that of arms where nothing else is said.
        workload: the same for every row.
        seed: of order and arrivals.
        sleep: waits, in seconds.
        processor: seconds that this process has had of all processors.
    """

    bench: Bench
    workload: Workload
    seed: int
    sleep: Callable[[float], None]
    processor: Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Something that was read off an arm in a round: a value, or one a request."""

    name: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What an arm did in a round; ``answers`` are in the order of the workload, and kept of one round alone."""

    readings: tuple[Reading, ...]
    answers: tuple[Answer, ...] = ()

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
    """

    figure: Figure
    beside: tuple[Figure, ...]
    reason: str


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
    def target(self) -> float | None:
        """The least that the figure's lower end must reach; nothing where none is set."""
        ...

    def measure(self, ground: Ground, number: int) -> Round:
        """Run both arms, in an order that changes from round to round; the first, number 0, has answers."""
        ...

    def judge(self, rounds: Sequence[Round], seed: int) -> Finding:
        """Return the figure of all rounds."""
        ...
