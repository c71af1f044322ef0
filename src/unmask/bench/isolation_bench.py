"""``unmask bench isolation``: what a batch flood does to interactive traffic, and how floods share the machine."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from itertools import chain
from random import Random

import numpy as np

from unmask.bench.arms import BASE
from unmask.bench.arriving import Arrival, Served, serve_arrivals
from unmask.bench.bench import Bench
from unmask.bench.bucketed import bucketed, poisson
from unmask.bench.drive import drive
from unmask.bench.report import BenchReport, Figure, MustReach, Op, Record, measured, target
from unmask.core.core import Core
from unmask.engine.runner import Runner
from unmask.local.model import make_core
from unmask.sched.settings import SchedSettings
from unmask.sequence import Submission
from unmask.service import ClassTerms
from unmask.stats import NotEnoughData, bootstrap_mean, percentile_interval

CALM, FLOOD, STEADY, NEWCOMER = "interactive", "flood", "steady", "newcomer"
"""Kinds of traffic, and the names of their tenants."""
INTERACTIVE = ClassTerms(name="interactive", weight=8.0, is_interactive=True)
BATCH = ClassTerms(name="batch", weight=1.0, min_share=0.1)
PLAIN = replace(BASE, prefix_cache=False)
# Half of a full batch, which is what whoever arrives may have to wait for; and while somebody waits, others join a tick
# that one canvas fills by their share only.
OURS = replace(PLAIN, tick_tokens=256, fast_tick_tokens=32)
LOAD, FLOODED = 0.3, 10.0
"""Arrivals over the measured capacity."""
TAIL = 0.99

Progress = Callable[[str, float], None]
Sleep = Callable[[float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How often, for how long, and how many different requests."""

    rounds: int
    seconds: float
    requests: int


FULL = Sizes(rounds=10, seconds=10.0, requests=256)
QUICK = Sizes(rounds=1, seconds=2.0, requests=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """How an arm schedules, and the terms of either kind of traffic; without ``batch`` there is no flood."""

    name: str
    settings: SchedSettings
    interactive: ClassTerms
    batch: ClassTerms | None
    has_tenants: bool = True


ARMS = (
    Arm(name="alone", settings=OURS, interactive=INTERACTIVE, batch=None),
    Arm(name="ours", settings=OURS, interactive=INTERACTIVE, batch=BATCH),
    # One class and one tenant, whose requests are all due equally long after they arrive.
    Arm(name="fcfs", settings=PLAIN, interactive=ClassTerms(), batch=ClassTerms(), has_tenants=False),
    # Weights so far apart that the turn of one never comes while the other has work.
    Arm(
        name="strict",
        settings=PLAIN,
        interactive=ClassTerms(name="interactive", weight=1e9),
        batch=ClassTerms(name="batch", weight=1e-9),
    ),
)


@dataclass(slots=True, kw_only=True)
class _Samples:
    """Seconds of interactive requests by arm and round, and how many were answered; shares of floods, by round."""

    waits: dict[str, list[list[float]]]
    answered: dict[str, int]
    minimum: list[float]
    alike: list[float]
    newcomers: list[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ground:
    """What every arm of a bench stands on."""

    bench: Bench
    work: list[Submission]
    capacity: float
    seconds: float
    sleep: Sleep

    def serve(self, settings: SchedSettings, coming: Iterable[Arrival], *, watched: str | None = None) -> Served:
        """Serve arrivals for twice as long as they come, or until those that are watched have been answered."""
        core = make_bench_core(self.bench, settings)
        longest = self.seconds if watched is None else 2 * self.seconds
        return serve_arrivals(core, coming, self.bench.clock, self.sleep, longest_s=longest, watched=watched)

    def coming(self, rng: Random, load: float, kind: str, terms: ClassTerms) -> Iterator[Arrival]:
        """Yield arrivals of a kind, at a multiple of capacity."""
        own = Random(rng.random())
        return poisson(self.work, own, rate=load * self.capacity, seconds=self.seconds, kind=kind, terms=terms)


def run_isolation_bench(
    bench: Bench, *, seed: int, quick: bool, progress: Progress, sleep: Sleep = time.sleep
) -> BenchReport:
    """Measure capacity, then every arm under the same arrivals, in turn, and judge the targets."""
    sizes = QUICK if quick else FULL
    work = bucketed(bench, seed, sizes.requests)
    ground = _Ground(bench=bench, work=work, capacity=_capacity(bench, work), seconds=sizes.seconds, sleep=sleep)
    samples = _Samples(
        waits={arm.name: [] for arm in ARMS},
        answered={arm.name: 0 for arm in ARMS},
        minimum=[],
        alike=[],
        newcomers=[],
    )
    records: list[Record] = []
    stages = len(ARMS) + 2
    for number in range(sizes.rounds):
        for index, arm in enumerate(Random(number).sample(ARMS, len(ARMS))):
            progress(arm.name, (number + index / stages) / sizes.rounds)
            served = ground.serve(arm.settings, _traffic(ground, arm, f"{seed} {number}"), watched=CALM)
            samples.waits[arm.name].append(served.waits(CALM))
            samples.answered[arm.name] += served.answered(CALM)
            records += _records(arm, served)
        progress("floods", (number + len(ARMS) / stages) / sizes.rounds)
        _measure_floods(ground, Random(f"{seed} {number} floods"), samples)
    progress("done", 1.0)
    figures, targets = _judge(samples, ground.capacity, seed)
    return bench.report(
        "isolation",
        seed=seed,
        quick=quick,
        figures=figures,
        must_reach=targets,
        records=tuple(records),
    )


def make_bench_core(bench: Bench, settings: SchedSettings) -> Core:
    """Return a core that refuses nobody."""
    runner = Runner(bench.model.network, pages=settings.pages, page_size=settings.page_size, precision=bench.precision)
    return make_core(runner, bench.tokenizer.token_bytes, settings, bench.clock, queue_limit=1_000_000)


def _capacity(bench: Bench, work: list[Submission]) -> float:
    """Return requests a second with always enough to do; a first run warms up."""
    drive(make_bench_core(bench, PLAIN), work[:8], bench.clock)
    return len(work) / drive(make_bench_core(bench, PLAIN), work, bench.clock).seconds


def _traffic(ground: _Ground, arm: Arm, seed: str) -> Iterator[Arrival]:
    """Yield the arrivals of a round, the same in every arm but for their terms."""
    rng = Random(seed)
    found = [ground.coming(rng, LOAD, CALM, arm.interactive)]
    if arm.batch is not None:
        found.append(ground.coming(rng, FLOODED, FLOOD, arm.batch))
    for arrival in merge(*found, key=lambda arrival: arrival.at):
        submission = arrival.submission
        yield arrival._replace(submission=submission if arm.has_tenants else replace(submission, tenant=""))


def _measure_floods(ground: _Ground, rng: Random, samples: _Samples) -> None:
    """Measure what a class gets of its minimum share where both flood, and how two tenants share where one does."""
    # The minimum counts where weights alone would leave less.
    small = replace(BATCH, weight=0.1, min_share=0.2)
    both = merge(
        ground.coming(rng, FLOODED, CALM, replace(INTERACTIVE, is_interactive=False)),
        ground.coming(rng, FLOODED, FLOOD, small),
        key=lambda arrival: arrival.at,
    )
    served = ground.serve(OURS, both)
    batch, other = served.tokens(FLOOD), served.tokens(CALM)
    if batch + other:
        samples.minimum.append(batch / (batch + other) / small.min_share)
    tenants = merge(
        ground.coming(rng, FLOODED, FLOOD, BATCH),
        ground.coming(rng, 1.0, STEADY, BATCH),
        ground.coming(rng, 0.02, NEWCOMER, BATCH),
        key=lambda arrival: arrival.at,
    )
    served = ground.serve(OURS, tenants)
    flood, steady = served.tokens(FLOOD), served.tokens(STEADY)
    if flood + steady:
        samples.alike.append(min(flood, steady) / max(flood, steady))
    samples.newcomers += served.waits(NEWCOMER)


def _records(arm: Arm, served: Served) -> list[Record]:
    return [
        Record(
            item=f"{visit.arrival.at:.6f}",
            arm=arm.name,
            task=CALM,
            difficulty=str(visit.arrival.submission.bucket),
            steps=0 if visit.sequence is None else visit.sequence.steps,
            seconds=seconds,
            correct=None,
        )
        for visit, seconds in zip(served.of(CALM), served.waits(CALM), strict=True)
    ]


def _judge(samples: _Samples, capacity: float, seed: int) -> tuple[tuple[Figure, ...], tuple[MustReach, ...]]:
    all_waits = {name: list(chain(*waits)) for name, waits in samples.waits.items()}
    flooded = _ratio("interactive_p99_flood_vs_alone", all_waits["ours"], all_waits["alone"])
    fcfs = _ratio("fcfs_p99_vs_ours", all_waits["fcfs"], all_waits["ours"])
    minimum = _mean("flood_share_vs_minimum", samples.minimum, seed, "row tokens, where both classes flood")
    alike = _mean("tenants_share_alike", samples.alike, seed, "row tokens of one over the other's, the smaller first")
    unanswered = len(all_waits["ours"]) - samples.answered["ours"]
    lost = Figure(name="interactive_unanswered", value=unanswered, note="under the flood")
    figures = [Figure(name="capacity", value=capacity, unit="1/s", note="requests with always enough to do")]
    for name, waits in all_waits.items():
        figures += _arm_figures(name, waits, samples.answered[name])
    if samples.newcomers:
        figures.append(
            Figure(
                name="newcomer_longest_wait",
                value=max(samples.newcomers),
                unit="s",
                n=len(samples.newcomers),
                note="of a third tenant, in the class that floods",
            )
        )
    strict = _ratio("strict_p99_vs_ours", all_waits["strict"], all_waits["ours"])
    targets = (
        target(flooded, Op.AT_MOST, 1.5),
        target(fcfs, Op.AT_LEAST, 5.0),
        target(minimum, Op.AT_LEAST, 0.95),
        target(alike, Op.AT_LEAST, 0.9),
        target(lost, Op.EQUAL, 0.0, sampled=False),
    )
    return (*figures, flooded, fcfs, strict, minimum, alike, lost), targets


def _arm_figures(name: str, waits: list[float], answered: int) -> list[Figure]:
    return [
        Figure(name=f"{name}.answered", value=answered, n=len(waits)),
        *(
            measured(
                f"{name}.latency_{label}",
                percentile_interval(waits, quantile),
                fallback=float(np.quantile(waits, quantile)) if waits else 0.0,
                unit="s",
                n=len(waits),
            )
            for label, quantile in (("p50", 0.5), ("p99", TAIL))
        ),
    ]


def _ratio(name: str, top: list[float], bottom: list[float]) -> Figure:
    """Return how many times as long one p99 is; its ends are those of the two intervals that are furthest apart."""
    high, low = percentile_interval(top, TAIL), percentile_interval(bottom, TAIL)
    if isinstance(high, NotEnoughData) or isinstance(low, NotEnoughData):
        value = float(np.quantile(top, TAIL) / np.quantile(bottom, TAIL)) if top and bottom else 0.0
        return Figure(name=name, value=value, note="no interval: too few requests for a p99")
    return Figure(
        name=name,
        value=high.estimate / low.estimate,
        low=high.low / low.high,
        high=high.high / low.low,
        note="the worst of both intervals",
    )


def _mean(name: str, values: Sequence[float], seed: int, note: str) -> Figure:
    fallback = float(np.mean(values)) if values else 0.0
    return measured(name, bootstrap_mean(values, seed), fallback=fallback, note=note)
