"""``unmask bench engine``: the engine against published sample code, lockstep, and itself with parts switched off."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np

from unmask.bench.arms import LOCKSTEP, MAIN, REFERENCE, Alternative, Arm, alternatives, main_arm, make_arm, other
from unmask.bench.bench import Bench
from unmask.bench.drive import Drive, drive
from unmask.bench.growth import page_pool_growth
from unmask.bench.meter import matmul_peak
from unmask.bench.quality import quality_figures
from unmask.bench.report import BenchReport, Figure, MustReach, Op, Record, measured, target
from unmask.bench.workload import Entry, mixed_requests, submissions
from unmask.local.model import model_info
from unmask.sequence import Sequence, Submission
from unmask.stats import bootstrap_mean, percentile_interval, ratio_interval
from unmask.tasks.registry import all_tasks
from unmask.types import Mode, Precision, StepBudget

AUTOREGRESSIVE = "autoregressive"
ROUNDS = 10
QUICK_ROUNDS = 2
REQUESTS = 256
QUICK_REQUESTS = 32
GROWTH_REQUESTS = 10_000
QUICK_GROWTH_REQUESTS = 500
QUALITY_REQUESTS = 2_000
QUICK_QUALITY_REQUESTS = 32
# Arms without a target need no interval; they run in this many rounds.
SIDE_ROUNDS = 2

Progress = Callable[[str, float], None]


@dataclass(slots=True, kw_only=True)
class _Samples:
    """Per arm: wall seconds a round, the meter's sums a round, and each request's seconds."""

    walls: list[float] = field(default_factory=list)
    forward: list[float] = field(default_factory=list)
    operations: list[float] = field(default_factory=list)
    peaks: list[float] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Workload:
    """The requests of every arm."""

    entries: list[Entry]
    work: list[Submission]


def run_engine_bench(bench: Bench, *, seed: int, quick: bool, progress: Progress) -> BenchReport:
    """Measure every arm, interleaved round by round, and judge the targets."""
    entries = mixed_requests(seed, QUICK_REQUESTS if quick else REQUESTS, bench.model.name, bench.tokenizer)
    workload = _Workload(
        entries=entries, work=submissions(entries, model_info(bench.model, bench.precision), bench.tokenizer)
    )
    rounds = QUICK_ROUNDS if quick else ROUNDS
    names = [alternative.name for alternative in alternatives(bench.precision)]
    samples = {name: _Samples() for name in (*names, AUTOREGRESSIVE)}
    records: list[Record] = []
    for number in range(rounds):
        _run_round(bench, workload, samples, records, number, rounds, progress)
    growth = page_pool_growth(bench, QUICK_GROWTH_REQUESTS if quick else GROWTH_REQUESTS)
    progress("quality", 1.0)
    quality = quality_figures(bench, seed=seed, count=QUICK_QUALITY_REQUESTS if quick else QUALITY_REQUESTS)
    progress("done", 1.0)
    figures, targets = _judge(samples, seed, growth)
    return bench.report(
        "engine",
        seed=seed,
        quick=quick,
        figures=(*figures, *_precision_figures(samples, bench.precision, seed), *quality),
        must_reach=targets,
        records=tuple(records),
    )


def _run_round(
    bench: Bench,
    workload: _Workload,
    samples: dict[str, _Samples],
    records: list[Record],
    number: int,
    rounds: int,
    progress: Progress,
) -> None:
    every = alternatives(bench.precision)
    # The first of a round starts with whatever the last of the one before has left in caches: they take turns.
    for index, alternative in enumerate(Random(number).sample(every, len(every))):
        name = alternative.name
        progress(name, (number + index / len(every)) / rounds)
        chosen = _chosen(alternative, len(workload.work), number, rounds)
        if chosen:
            kept = records if number == 0 or alternative.is_reference else None
            _measure(make_arm(alternative, bench), bench, alternative.precision, workload, chosen, samples[name], kept)
    if number < SIDE_ROUNDS:
        decoded = replace(workload, work=[_autoregressive(submission) for submission in workload.work])
        arm = replace(main_arm(bench), name=AUTOREGRESSIVE)
        kept = records if number == 0 else None
        _measure(arm, bench, bench.precision, decoded, range(len(decoded.work)), samples[AUTOREGRESSIVE], kept)


def _chosen(alternative: Alternative, count: int, number: int, rounds: int) -> range:
    """Return which requests an arm runs in a round."""
    if alternative.is_reference:
        # Requests run one by one, so a slice of them each round is as good as all of them in one.
        return range(number, count, rounds)
    has_interval = alternative.name in (MAIN, LOCKSTEP, *Precision)
    return range(count if has_interval or number < SIDE_ROUNDS else 0)


def _autoregressive(submission: Submission) -> Submission:
    budget = StepBudget(max_steps=submission.budget.max_steps, max_total_steps=submission.max_tokens)
    return replace(submission, mode=Mode.AUTOREGRESSIVE, budget=budget)


def _measure(
    arm: Arm,
    bench: Bench,
    precision: Precision,
    workload: _Workload,
    chosen: range,
    samples: _Samples,
    records: list[Record] | None,
) -> None:
    samples.peaks.append(matmul_peak(bench.clock, precision))
    run = drive(arm.core, [workload.work[index] for index in chosen], bench.clock)
    samples.walls.append(run.seconds)
    samples.forward.append(arm.meter.work.seconds)
    samples.operations.append(arm.meter.work.operations)
    samples.tokens.append(sum(len(sequence.output) for sequence in run.sequences))
    samples.latencies += [_service_seconds(sequence) for sequence in run.sequences]
    if records is not None:
        records += _records(arm.name, run, [workload.entries[index] for index in chosen])


def _service_seconds(sequence: Sequence) -> float:
    """Seconds from admission to the end: waiting for a free row is the load's doing, not the engine's."""
    assert sequence.finished is not None
    assert sequence.started is not None
    return sequence.finished - sequence.started


def _records(arm: str, run: Drive, entries: list[Entry]) -> list[Record]:
    tasks = all_tasks()
    return [
        Record(
            item=entry.item.digest,
            arm=arm,
            task=entry.item.task,
            difficulty=str(entry.item.difficulty),
            steps=sequence.steps,
            seconds=_service_seconds(sequence),
            correct=tasks[entry.item.task].check(entry.item, sequence.text).passed if entry.final else None,
        )
        for entry, sequence in zip(entries, run.sequences, strict=True)
    ]


def _judge(samples: dict[str, _Samples], seed: int, growth: int) -> tuple[tuple[Figure, ...], tuple[MustReach, ...]]:
    figures = [figure for name, arm in samples.items() for figure in _arm_figures(name, arm)]
    main = samples[MAIN]
    versus_reference = _versus_reference("requests_per_s_vs_reference", main, samples[REFERENCE], seed)
    versus_lockstep = _versus("requests_per_s_vs_lockstep", main, samples[LOCKSTEP], seed)
    shares = [forward / wall for forward, wall in zip(main.forward, main.walls, strict=True)]
    share = measured(
        "forward_share_of_wall", bootstrap_mean(shares, seed), fallback=float(np.mean(shares)), note="batch 16"
    )
    rates = _rates(main)
    rate = measured(
        "forward_vs_matmul_peak", bootstrap_mean(rates, seed), fallback=float(np.mean(rates)), note="batch 16"
    )
    grown = Figure(name="page_pool_growth", value=growth, unit="pages")
    targets = (
        target(versus_reference, Op.AT_LEAST, 5.0),
        target(versus_lockstep, Op.AT_LEAST, 1.5),
        target(share, Op.AT_LEAST, 0.85),
        target(rate, Op.AT_LEAST, 0.35),
        target(grown, Op.EQUAL, 0.0, sampled=False),
    )
    return (*figures, versus_reference, versus_lockstep, share, rate, grown), targets


def _precision_figures(samples: dict[str, _Samples], precision: Precision, seed: int) -> list[Figure]:
    """Return what the other precision gains over this one, and over a reference of its own."""
    side = other(precision)
    return [
        _versus(f"{side}_requests_per_s_vs_{precision}", samples[side], samples[MAIN], seed),
        _versus_reference(
            f"{side}_requests_per_s_vs_reference_{side}", samples[side], samples[f"{REFERENCE}_{side}"], seed
        ),
    ]


def _versus(name: str, arm: _Samples, slower: _Samples, seed: int) -> Figure:
    """Return how many times as many requests a second ``arm`` serves, rounds compared pair by pair."""
    return measured(
        name,
        ratio_interval(slower.walls, arm.walls, seed, paired=True),
        fallback=float(np.mean(slower.walls) / np.mean(arm.walls)),
        note="rounds resampled in pairs",
    )


def _versus_reference(name: str, arm: _Samples, reference: _Samples, seed: int) -> Figure:
    """Return how many times as many requests a second ``arm`` serves as the reference, which runs each alone."""
    count = len(arm.latencies) / len(arm.walls)
    per_request = [wall / count for wall in arm.walls]
    return measured(
        name,
        ratio_interval(reference.latencies, per_request, seed),
        fallback=float(np.mean(reference.latencies) / np.mean(per_request)),
        note="requests and rounds resampled",
    )


def _rates(samples: _Samples) -> list[float]:
    """Operations a second inside the forward, as a share of the matrix product peak measured just before."""
    return [
        operations / seconds / peak
        for operations, seconds, peak in zip(samples.operations, samples.forward, samples.peaks, strict=True)
    ]


def _arm_figures(name: str, samples: _Samples) -> list[Figure]:
    wall = sum(samples.walls)
    figures = [
        Figure(name=f"{name}.requests_per_s", value=len(samples.latencies) / wall, unit="1/s"),
        Figure(name=f"{name}.tokens_per_s", value=sum(samples.tokens) / wall, unit="1/s"),
        Figure(name=f"{name}.forward_share", value=sum(samples.forward) / wall),
        Figure(name=f"{name}.forward_vs_peak", value=float(np.mean(_rates(samples)))),
    ]
    for label, quantile in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        figures.append(
            measured(
                f"{name}.latency_{label}",
                percentile_interval(samples.latencies, quantile),
                fallback=float(np.quantile(samples.latencies, quantile)),
                unit="s",
            )
        )
    return figures
