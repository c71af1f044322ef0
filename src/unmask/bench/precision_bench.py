"""``unmask bench precision``: each precision against float32, in requests a second, memory and right answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np
from numpy.typing import NDArray

from unmask.bench.arms import BASE, MAIN, Alternative, make_arm
from unmask.bench.bench import Bench
from unmask.bench.drive import drive
from unmask.bench.quality import answer_all, is_right
from unmask.bench.report import BenchReport, Figure, Record, measured
from unmask.bench.workload import Entry, mixed_requests, submissions
from unmask.engine.precision import precision_fault
from unmask.engine.runner import Runner
from unmask.local.model import model_info
from unmask.sequence import Sequence as Generated
from unmask.stats import paired_difference, ratio_interval, wilson
from unmask.types import Precision

EXACT = Precision.FLOAT32
Rights = NDArray[np.bool_]
Progress = Callable[[str, float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrecisionSizes:
    """How much is run: rounds, requests of a round in batches and one by one, and requests of the quality figures."""

    rounds: int
    batched: int
    single: int
    quality: int


FULL = PrecisionSizes(rounds=10, batched=192, single=32, quality=3_000)
QUICK = PrecisionSizes(rounds=2, batched=16, single=4, quality=24)


def run_precision_bench(
    bench: Bench, *, seed: int, quick: bool, progress: Progress, sizes: PrecisionSizes | None = None
) -> BenchReport:
    """Measure every precision that can be had here, whatever the bench's own is."""
    sizes = sizes or (QUICK if quick else FULL)
    shape = bench.model.network.shape
    precisions = [precision for precision in Precision if precision_fault(precision, shape) is None]
    speed = [
        figure
        for rows, count in ((BASE.max_rows, sizes.batched), (1, sizes.single))
        for figure in _speed(bench, precisions, rows, count, rounds=sizes.rounds, seed=seed, progress=progress)
    ]
    quality, records = _quality(bench, precisions, sizes.quality, seed, progress)
    progress("done", 1.0)
    return replace(bench, precision=EXACT).report(
        "precision",
        seed=seed,
        quick=quick,
        figures=(*speed, *_memory(bench, precisions), *quality),
        records=records,
    )


def _speed(
    bench: Bench,
    precisions: Sequence[Precision],
    rows: int,
    count: int,
    *,
    rounds: int,
    seed: int,
    progress: Progress,
) -> list[Figure]:
    """Run the same requests in each precision, so many at once, round by round in another order."""
    label, settings = f"batch_{rows}", replace(BASE, max_rows=rows)
    entries = mixed_requests(seed, count, bench.model.name, bench.tokenizer)
    work = submissions(entries, model_info(bench.model, EXACT), bench.tokenizer)
    walls: dict[Precision, list[float]] = {precision: [] for precision in precisions}
    for number in range(rounds):
        progress(label, 0.7 * number / rounds)
        for precision in Random(number).sample(precisions, len(precisions)):
            alternative = Alternative(name=MAIN, precision=precision, settings=settings)
            walls[precision].append(drive(make_arm(alternative, bench).core, work, bench.clock).seconds)
    exact = walls[EXACT]
    figures: list[Figure] = []
    for precision, taken in walls.items():
        rate = len(work) * rounds / sum(taken)
        figures.append(Figure(name=f"{precision}.{label}.requests_per_s", value=rate, unit="1/s"))
        if precision is not EXACT:
            figures.append(
                measured(
                    f"{precision}.{label}.requests_per_s_vs_{EXACT}",
                    ratio_interval(exact, taken, seed, paired=True),
                    fallback=sum(exact) / sum(taken),
                    note="rounds resampled in pairs",
                )
            )
    return figures


def _memory(bench: Bench, precisions: Sequence[Precision]) -> list[Figure]:
    """Return what weights and KV take, and how much less that is together, with pages as a server has them."""
    runners = {
        precision: Runner(bench.model.network, pages=1, page_size=BASE.page_size, precision=precision)
        for precision in precisions
    }
    totals = {precision: runner.weight_bytes + BASE.pages * runner.page_bytes for precision, runner in runners.items()}
    figures: list[Figure] = []
    for precision, runner in runners.items():
        figures += [
            Figure(name=f"{precision}.weight_bytes", value=runner.weight_bytes, unit="B"),
            Figure(name=f"{precision}.kv_bytes_per_token", value=runner.page_bytes / BASE.page_size, unit="B"),
        ]
        if precision is not EXACT:
            pages = f"with KV pages for {BASE.pages * BASE.page_size} tokens"
            saving = 1 - totals[precision] / totals[EXACT]
            figures.append(Figure(name=f"{precision}.memory_saving", value=saving, note=pages))
    return figures


def _quality(
    bench: Bench, precisions: Sequence[Precision], count: int, seed: int, progress: Progress
) -> tuple[list[Figure], tuple[Record, ...]]:
    """Answer the same items in each precision; of a conversation the last answer counts."""
    entries = mixed_requests(seed, count, bench.model.name, bench.tokenizer)
    final = [index for index, entry in enumerate(entries) if entry.final]
    asked = [entries[index] for index in final]
    answers: dict[Precision, list[Generated]] = {}
    for place, precision in enumerate(precisions):
        progress(f"quality {precision}", 0.7 + 0.3 * place / len(precisions))
        generated = answer_all(replace(bench, precision=precision), entries)
        answers[precision] = [generated[index] for index in final]
    right = {
        precision: np.array([is_right(entry, found.text) for entry, found in zip(asked, generated, strict=True)])
        for precision, generated in answers.items()
    }
    figures: list[Figure] = []
    for precision in precisions:
        passed = right[precision]
        share = wilson(int(passed.sum()), len(passed))
        figures.append(measured(f"{precision}.quality", share, fallback=float(passed.mean()), n=len(passed)))
        if precision is not EXACT:
            texts = zip(answers[precision], answers[EXACT], strict=True)
            differing = sum(one.text != other.text for one, other in texts)
            figures += _differences(precision, asked, passed, right[EXACT], seed, f"{differing} texts differ")
    return figures, tuple(
        record
        for precision, generated in answers.items()
        for record in map(_record, asked, generated, right[precision], [precision] * len(asked))
    )


def _differences(
    precision: Precision,
    asked: Sequence[Entry],
    right: Rights,
    exact: Rights,
    seed: int,
    note: str,
) -> list[Figure]:
    """Return by how much more is right than in single precision, item by item: of all, and of each task type."""
    tasks = np.array([entry.item.task for entry in asked])
    groups = [("", np.full(len(asked), fill_value=True)), *((f"{task}.", tasks == task) for task in sorted(set(tasks)))]
    return [
        measured(
            f"{precision}.{prefix}quality_vs_{EXACT}",
            paired_difference(right[of].astype(float), exact[of].astype(float), seed, bounds=(-1.0, 1.0)),
            fallback=float(right[of].mean() - exact[of].mean()),
            n=int(of.sum()),
            note=note if not prefix else f"{int((right[of] != exact[of]).sum())} differ in being right",
        )
        for prefix, of in groups
    ]


def _record(entry: Entry, generated: Generated, right: np.bool_, precision: Precision) -> Record:
    assert generated.finished is not None, "a driven sequence has ended"
    assert generated.started is not None, "a driven sequence has run"
    return Record(
        item=entry.item.digest,
        arm=precision,
        task=entry.item.task,
        difficulty=str(entry.item.difficulty),
        steps=generated.steps,
        seconds=generated.finished - generated.started,
        correct=bool(right),
    )
