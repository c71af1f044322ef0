"""``unmask bench engine``: the engine against published sample code, lockstep, and itself with parts switched off."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from unmask.backend import ModelInfo
from unmask.bench.arms import BASE, LOCKSTEP, MAIN, REFERENCE, SETTINGS, Arm, make_arm
from unmask.bench.drive import Drive, drive
from unmask.bench.growth import page_pool_growth
from unmask.bench.meter import matmul_peak
from unmask.bench.report import BenchReport, Figure, MustReach, Op, Record, measured, target
from unmask.bench.workload import Entry, mixed_requests, submissions
from unmask.clock import Clock
from unmask.engine.weights import LoadedModel
from unmask.local.model import model_info
from unmask.sequence import Sequence, Submission
from unmask.stats import bootstrap_mean, percentile_interval, ratio_interval
from unmask.tasks.registry import all_tasks
from unmask.text.tokenizer import TextTokenizer
from unmask.types import Mode, StepBudget

AUTOREGRESSIVE = "autoregressive"
ROUNDS = 10
QUICK_ROUNDS = 2
REQUESTS = 256
QUICK_REQUESTS = 32
GROWTH_REQUESTS = 10_000
QUICK_GROWTH_REQUESTS = 500
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
class _Setup:
    model: LoadedModel
    tokenizer: TextTokenizer
    info: ModelInfo
    clock: Clock
    entries: list[Entry]
    work: list[Submission]


def run_engine_bench(
    model: LoadedModel, tokenizer: TextTokenizer, clock: Clock, *, seed: int, quick: bool, progress: Progress
) -> BenchReport:
    """Measure every arm, interleaved round by round, and judge the targets."""
    info = model_info(model)
    entries = mixed_requests(seed, QUICK_REQUESTS if quick else REQUESTS, model.name, tokenizer)
    setup = _Setup(
        model=model,
        tokenizer=tokenizer,
        info=info,
        clock=clock,
        entries=entries,
        work=submissions(entries, info, tokenizer),
    )
    rounds = QUICK_ROUNDS if quick else ROUNDS
    samples = {name: _Samples() for name, _ in (*SETTINGS, (AUTOREGRESSIVE, BASE))}
    records: list[Record] = []
    for number in range(rounds):
        _run_round(setup, samples, records, number, rounds, progress)
    growth = page_pool_growth(setup.model, tokenizer, clock, QUICK_GROWTH_REQUESTS if quick else GROWTH_REQUESTS)
    progress("done", 1.0)
    figures, targets = _judge(samples, seed, growth)
    return BenchReport(
        name="engine",
        model=model.name,
        model_digest=model.digest,
        seed=seed,
        quick=quick,
        figures=figures,
        must_reach=targets,
        records=tuple(records),
    )


def _run_round(
    setup: _Setup, samples: dict[str, _Samples], records: list[Record], number: int, rounds: int, progress: Progress
) -> None:
    for index, (name, settings) in enumerate(SETTINGS):
        progress(name, (number + index / len(SETTINGS)) / rounds)
        if name in (MAIN, LOCKSTEP):
            chosen = range(len(setup.work))
        elif name == REFERENCE:
            # Requests run one by one, so a slice of them each round is as good as all of them in one.
            chosen = range(number, len(setup.work), rounds)
        elif number < SIDE_ROUNDS:
            chosen = range(len(setup.work))
        else:
            continue
        arm = make_arm(name, settings, setup.model, setup.tokenizer, setup.clock)
        _measure(
            arm, setup, list(chosen), setup.work, samples[name], records if number == 0 or name == REFERENCE else None
        )
    if number < SIDE_ROUNDS:
        arm = make_arm(AUTOREGRESSIVE, BASE, setup.model, setup.tokenizer, setup.clock)
        work = [_autoregressive(submission) for submission in setup.work]
        everything = list(range(len(work)))
        _measure(arm, setup, everything, work, samples[AUTOREGRESSIVE], records if number == 0 else None)


def _autoregressive(submission: Submission) -> Submission:
    budget = StepBudget(max_steps=submission.budget.max_steps, max_total_steps=submission.max_tokens)
    return replace(submission, mode=Mode.AUTOREGRESSIVE, budget=budget)


def _measure(
    arm: Arm, setup: _Setup, chosen: list[int], work: list[Submission], samples: _Samples, records: list[Record] | None
) -> None:
    samples.peaks.append(matmul_peak(setup.clock))
    run = drive(arm.core, [work[index] for index in chosen], setup.clock)
    samples.walls.append(run.seconds)
    samples.forward.append(arm.meter.work.seconds)
    samples.operations.append(arm.meter.work.operations)
    samples.tokens.append(sum(len(sequence.output) for sequence in run.sequences))
    samples.latencies += [_service_seconds(sequence) for sequence in run.sequences]
    if records is not None:
        records += _records(arm.name, run, [setup.entries[index] for index in chosen])


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
    main, lockstep, reference = samples[MAIN], samples[LOCKSTEP], samples[REFERENCE]
    count = len(main.latencies) / len(main.walls)
    per_request = [wall / count for wall in main.walls]
    versus_reference = measured(
        "requests_per_s_vs_reference",
        ratio_interval(reference.latencies, per_request, seed),
        fallback=float(np.mean(reference.latencies) / np.mean(per_request)),
        note="requests and rounds resampled",
    )
    versus_lockstep = measured(
        "requests_per_s_vs_lockstep",
        ratio_interval(lockstep.walls, main.walls, seed, paired=True),
        fallback=float(np.mean(lockstep.walls) / np.mean(main.walls)),
        note="rounds resampled in pairs",
    )
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
