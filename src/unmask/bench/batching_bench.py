"""``unmask bench batching``: requests of mixed buckets in lockstep, in aligned batches, and joining at every step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np

from unmask.bench.arms import BASE, NO_REUSE
from unmask.bench.bench import Bench
from unmask.bench.bucketed import STEPS, bucketed
from unmask.bench.drive import drive
from unmask.bench.lockstep import LockstepRunner
from unmask.bench.report import BenchReport, Figure, Op, Record, measured, target
from unmask.bench.theory import useful_share
from unmask.bench.tokens import TokenCounter
from unmask.core.core import Core
from unmask.engine.runner import Runner
from unmask.local.model import make_core
from unmask.sched.settings import SchedSettings
from unmask.sequence import Sequence as Sequenced
from unmask.sequence import Submission
from unmask.service import Batching
from unmask.stats import bootstrap_mean, percentile_interval, ratio_interval
from unmask.types import Bucket

MIXED, ALIGNED, STEP = "lockstep_mixed", "lockstep_aligned", "step"
ROUNDS, QUICK_ROUNDS = 10, 2
REQUESTS, QUICK_REQUESTS = 512, 40
_STATIC = replace(NO_REUSE, batching=Batching.ALIGNED)
# Prompts are all different here, so that a cache would find nothing but the words they begin with.
ARMS: dict[str, SchedSettings] = {MIXED: _STATIC, ALIGNED: _STATIC, STEP: replace(BASE, prefix_cache=False)}

Progress = Callable[[str, float], None]
Batch = tuple[Bucket | None, int]


@dataclass(slots=True, kw_only=True)
class _Samples:
    """Of one arm, a value a round; and each request's seconds from submission to end."""

    walls: list[float] = field(default_factory=list)
    useful: list[float] = field(default_factory=list)
    moving: list[float] = field(default_factory=list)
    theory: list[float] = field(default_factory=list)
    rows: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)


def run_batching_bench(bench: Bench, *, seed: int, quick: bool, progress: Progress) -> BenchReport:
    """Run the same requests in every arm, in turn, and judge the targets."""
    rounds, count = (QUICK_ROUNDS, QUICK_REQUESTS) if quick else (ROUNDS, REQUESTS)
    samples = {name: _Samples() for name in ARMS}
    records: list[Record] = []
    for number in range(rounds):
        work = bucketed(bench, seed + number, count)
        for index, name in enumerate(Random(number).sample(list(ARMS), len(ARMS))):
            progress(name, (number + index / len(ARMS)) / rounds)
            records += _measure(bench, name, work, samples[name])
    progress("done", 1.0)
    return _report(bench, samples, seed=seed, quick=quick, records=records)


def _measure(bench: Bench, name: str, work: list[Submission], samples: _Samples) -> list[Record]:
    settings = ARMS[name]
    network = bench.model.network
    runner = Runner(network, pages=settings.pages, page_size=settings.page_size, precision=bench.precision)
    counter = TokenCounter(runner)
    lockstep = LockstepRunner(counter)
    core = make_core(
        counter if name == STEP else lockstep, bench.tokenizer.token_bytes, settings, bench.clock, queue_limit=len(work)
    )
    # Lockstep that knows of no buckets fills its batches as requests come.
    given = [replace(submission, bucket=None) for submission in work] if name == MIXED else work
    batches: list[Batch] = []
    run = drive(core, given, bench.clock, each_tick=lambda core: _note_batch(core, batches))
    samples.walls.append(run.seconds)
    samples.tokens.append(sum(len(sequence.output) for sequence in run.sequences))
    samples.latencies += [(sequence.finished or 0.0) - sequence.arrived for sequence in run.sequences]
    samples.useful.append(_useful_tokens(run.sequences) / counter.tokens)
    moved = sum(sequence.steps for sequence in run.sequences)
    samples.moving.append(moved / (moved + lockstep.waiting_rows))
    if name != STEP:
        samples.rows.append(float(np.mean([rows for _, rows in batches])))
        samples.theory.append(useful_share(batches, _steps_taken(run.sequences)))
    return [_record(name, submission, sequence) for submission, sequence in zip(work, run.sequences, strict=True)]


def _note_batch(core: Core, batches: list[Batch]) -> None:
    """Note a batch by its largest bucket in the tick that takes in its prompts."""
    running = list(core.batcher.running.values())
    if running and core.batcher.settings.batching is Batching.ALIGNED and not any(one.canvases for one in running):
        buckets = [one.submission.bucket for one in running]
        batches.append((max(buckets, key=lambda bucket: STEPS.get(bucket, 0) if bucket else 0), len(running)))


def _useful_tokens(sequences: Sequence[Sequenced]) -> int:
    """Return prompts, and of every step the positions that became output: behind its end a canvas is padding."""
    return sum(sequence.prefill_tokens + sequence.steps * len(sequence.output) for sequence in sequences)


def _steps_taken(sequences: Sequence[Sequenced]) -> dict[Bucket | None, list[int]]:
    steps: dict[Bucket | None, list[int]] = {}
    for sequence in sequences:
        steps.setdefault(sequence.submission.bucket, []).append(sequence.steps)
    return steps


def _record(arm: str, submission: Submission, sequence: Sequenced) -> Record:
    return Record(
        item=str(sequence.id),
        arm=arm,
        task=str(submission.bucket),
        difficulty=f"canvas={submission.canvas_length}",
        steps=sequence.steps,
        seconds=(sequence.finished or 0.0) - sequence.arrived,
        correct=None,
    )


def _report(
    bench: Bench, samples: dict[str, _Samples], *, seed: int, quick: bool, records: list[Record]
) -> BenchReport:
    mixed, aligned, step = (samples[name] for name in (MIXED, ALIGNED, STEP))
    throughput = measured(
        "throughput_vs_lockstep_mixed",
        ratio_interval(mixed.walls, step.walls, seed, paired=True),
        fallback=float(np.mean(mixed.walls) / np.mean(step.walls)),
        note="requests a second; rounds resampled in pairs",
    )
    useful = _mean("useful_share_step", step.useful, seed, "useful tokens over tokens forwarded")
    versus = [found / best for found, best in zip(aligned.moving, aligned.theory, strict=True)]
    theory = _mean("useful_share_aligned_vs_theory", versus, seed, "of row steps, those that wait are waste")
    by_arm = (figure for name, arm in samples.items() for figure in _figures(name, arm, seed))
    return bench.report(
        "batching",
        seed=seed,
        quick=quick,
        figures=(*by_arm, throughput, useful, theory),
        must_reach=(
            target(throughput, Op.AT_LEAST, 1.4),
            target(useful, Op.AT_LEAST, 0.8),
            target(theory, Op.AT_LEAST, 0.95),
        ),
        records=tuple(records),
    )


def _figures(name: str, samples: _Samples, seed: int) -> list[Figure]:
    wall = sum(samples.walls)
    figures = [
        Figure(name=f"{name}.requests_per_s", value=len(samples.latencies) / wall, unit="1/s"),
        Figure(name=f"{name}.tokens_per_s", value=sum(samples.tokens) / wall, unit="1/s"),
        _mean(f"{name}.useful_share", samples.useful, seed, "useful tokens over tokens forwarded"),
        measured(
            f"{name}.latency_p99",
            percentile_interval(samples.latencies, 0.99),
            fallback=float(np.quantile(samples.latencies, 0.99)),
            unit="s",
            note="all requests arrive at once",
        ),
    ]
    if samples.rows:
        figures += [
            _mean(f"{name}.moving_share", samples.moving, seed, "of row steps, those that wait are waste"),
            _mean(f"{name}.theory", samples.theory, seed, "of batches drawn at random from the steps taken"),
            _mean(f"{name}.batch_rows", samples.rows, seed, "rows of a batch"),
        ]
    return figures


def _mean(name: str, values: Sequence[float], seed: int, note: str) -> Figure:
    return measured(name, bootstrap_mean(values, seed), fallback=float(np.mean(values)), note=note)
