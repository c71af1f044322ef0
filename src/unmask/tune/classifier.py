"""Measures the prompt classifier, and what its errors do to early exits."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from unmask.control.classify import Reliability
from unmask.policy.policy import DEFAULT_TASK
from unmask.stats import Interval, IntervalResult, NotEnoughData, clopper_pearson, wilson
from unmask.tasks.domain import recognise
from unmask.tasks.registry import all_tasks
from unmask.tune.prompts import OUTSIDE, Population, Prompt, foreign, generated, paraphrase
from unmask.types import Message

FEWEST = 10
"""Prompts of a kind below which a measurement says nothing."""

_TOGETHER = 0.975
"""Of each interval: its ends miss 1.25 % of the time, and four of them are used."""

Recogniser = Callable[[tuple[Message, ...]], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifierRow:
    """Prompts of one population and task type, and what was said of them.

    Attributes:
        truth: their task type.
        right: those it was said of.
        open: those left at `DEFAULT_TASK` though they are of a task type: steps lost, nothing else.
        wrong: those said to be of another task type.
    """

    population: Population
    truth: str
    n: int
    right: int
    open: int
    wrong: int

    @property
    def error(self) -> IntervalResult:
        """Share of wrong task types (Wilson, 95 %)."""
        return wilson(self.wrong, self.n)

    @property
    def recall(self) -> IntervalResult:
        """Share of right task types (Wilson, 95 %)."""
        return wilson(self.right, self.n)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifierReport:
    """What the classifier says of prompts.

    Attributes:
        items: prompts of each population and task type.
        reliability: by task type said, over all populations as they were drawn.
    """

    seed: int
    items: int
    rows: tuple[ClassifierRow, ...]
    reliability: tuple[tuple[str, Reliability], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitCount:
    """Early exits of requests said to be of one task type and truly of another or the same, and those misjudged."""

    said: str
    truth: str
    exits: int
    misjudged: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Misjudgement:
    """Misjudgement of requests that are said to be of a task type, the classifier's errors included.

    Attributes:
        upper: 95 % upper bound. Requests of another task type than they are said to be count as misjudged unless their
            exits were measured.
    """

    said: str
    upper: float


def measure_classifier(*, items: int, seed: int, recogniser: Recogniser = recognise) -> ClassifierReport:
    """Classify ``items`` prompts of each population and task type.

    Generated items and paraphrases are counted by task type; those out of the domain have none.

    Raises:
        ValueError: fewer than `FEWEST` items.
    """
    if items < FEWEST:
        msg = f"items must be at least {FEWEST}, got {items!r}"
        raise ValueError(msg)
    said: Counter[tuple[Population, str, str]] = Counter()
    for prompt in draw_prompts(Random(seed), items):
        said[prompt.population, prompt.truth, recogniser(prompt.messages) or DEFAULT_TASK] += 1
    kinds = dict.fromkeys((population, truth) for population, truth, _ in said)
    return ClassifierReport(
        seed=seed,
        items=items,
        rows=tuple(_row(population, truth, said) for population, truth in kinds),
        reliability=tuple((task, _reliability(task, said)) for task in all_tasks()),
    )


def draw_prompts(rng: Random, items: int) -> Iterator[Prompt]:
    """Yield so many prompts of each population and task type."""
    tasks = all_tasks().values()
    for task in tasks:
        yield from (generated(rng, task) for _ in range(items))
    for population in (Population.PARAPHRASED, Population.PARAPHRASED_KOREAN):
        for task in tasks:
            yield from (paraphrase(rng, task, population) for _ in range(items))
    for population in OUTSIDE:
        yield from (foreign(rng, population) for _ in range(items))


def misjudgement_under_errors(reliability: Reliability, said: str, exits: Sequence[ExitCount]) -> Misjudgement:
    """Bound the misjudgement of requests that the classifier says are of a task type.

    A request so classified is of the task type with the measured reliability, and then misjudged as often as the task
    type's own exits are; else it is misjudged as often as was measured for such requests, always if it was not. Each of
    the three rates is taken at its unfavourable end, at intervals that hold together 95 % of the time.
    """
    own = _rate([count for count in exits if count.said == count.truth == said])
    others = _rate([count for count in exits if count.said == said != count.truth])
    match clopper_pearson(reliability.right, reliability.recognised, _TOGETHER):
        case Interval(low=low, high=high):
            ends = (low, high)
        case NotEnoughData():
            ends = (0.0, 1.0)
    return Misjudgement(said=said, upper=min(1.0, max(right * own + (1 - right) * others for right in ends)))


def _rate(counts: Sequence[ExitCount]) -> float:
    """Return the upper end of a rate of misjudgement, 1 where nothing was measured."""
    misjudged, exits = sum(count.misjudged for count in counts), sum(count.exits for count in counts)
    interval = clopper_pearson(misjudged, exits, _TOGETHER)
    return interval.high if isinstance(interval, Interval) else 1.0


def _row(population: Population, truth: str, said: Counter[tuple[Population, str, str]]) -> ClassifierRow:
    counts = {name: count for (found, true, name), count in said.items() if (found, true) == (population, truth)}
    n, right = sum(counts.values()), counts.get(truth, 0)
    left_open = counts.get(DEFAULT_TASK, 0) if truth != DEFAULT_TASK else 0
    return ClassifierRow(
        population=population, truth=truth, n=n, right=right, open=left_open, wrong=n - right - left_open
    )


def _reliability(task: str, said: Counter[tuple[Population, str, str]]) -> Reliability:
    return Reliability(
        recognised=sum(count for (_, _, name), count in said.items() if name == task),
        right=sum(count for (_, truth, name), count in said.items() if name == truth == task),
    )
