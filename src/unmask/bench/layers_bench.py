"""``unmask bench layers``: what each layer contributes, off against on, with the quality that it costs."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from unmask.bench.bench import Bench
from unmask.bench.layer_row import Ground, LayerRow, Round
from unmask.bench.layers_journal import RowOf, open_row_journal
from unmask.bench.layers_picture import QUALITY
from unmask.bench.layers_workload import Ask, WorkloadSpec, draw_workload
from unmask.bench.report import BenchReport, Figure, MustReach, Op, Record, measured, target
from unmask.stats import paired_difference
from unmask.tune.origin import commit, machine

ROUNDS, QUICK_ROUNDS = 10, 1
MISSED = "missed: "

Progress = Callable[[str, float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LayersBasis:
    """Which rows are measured, and the folder of their journals."""

    rows: tuple[LayerRow, ...]
    folder: Path


def run_layers_bench(
    bench: Bench,
    basis: LayersBasis,
    *,
    seed: int,
    quick: bool,
    progress: Progress,
    spec: WorkloadSpec | None = None,
    sleep: Callable[[float], None] = time.sleep,
    processor: Callable[[], float] = time.process_time,
) -> BenchReport:
    """Measure rows one after the other, each as far as its journal does not have its rounds yet.

    Args:
        bench: what is measured.
        basis: the rows, and where their journals are.
        seed: of workload, order, arrivals and resampling.
        quick: whether few requests and one round are enough, as nothing is to be decided.
        progress: told of stages and shares.
        spec: of the workload; the packaged one unless given.
        sleep: waits, in seconds.
        processor: seconds that this process has had of all processors.

    Raises:
        UnmaskError: a journal is of something else, or an engine failed a request.
    """
    workload = draw_workload(bench, seed, quick=quick, spec=spec)
    ground = Ground(bench=bench, workload=workload, seed=seed, sleep=sleep, processor=processor)
    rounds = QUICK_ROUNDS if quick else ROUNDS
    found: list[tuple[LayerRow, tuple[Round, ...]]] = []
    for place, row in enumerate(basis.rows):

        def watch(share: float, row: LayerRow = row, place: int = place) -> None:
            progress(row.name, (place + share) / len(basis.rows))

        found.append((row, _measured(row, ground, basis.folder, rounds, watch)))
    progress("done", 1.0)
    judged = [_judged(row, measured_rounds, seed) for row, measured_rounds in found]
    return BenchReport(
        name="layers",
        model=bench.model.name,
        model_digest=bench.model.digest,
        precision=bench.precision,
        seed=seed,
        quick=quick,
        figures=tuple(figure for one in judged for figure in one.figures),
        must_reach=tuple(one.must_reach for one in judged if one.must_reach is not None),
        records=tuple(record for row, rounds in found for record in _records(row, workload.asks, rounds[0])),
        workload=workload.digest,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    figures: tuple[Figure, ...]
    must_reach: MustReach | None


def _measured(
    row: LayerRow, ground: Ground, folder: Path, rounds: int, watch: Callable[[float], None]
) -> tuple[Round, ...]:
    of = RowOf(
        row=row.name,
        model_digest=ground.bench.model.digest,
        precision=ground.bench.precision,
        workload=ground.workload.digest,
        seed=ground.seed,
        machine=machine(),
        commit=commit(),
    )
    with open_row_journal(folder, of) as journal:
        for number in range(len(journal.rounds), rounds):
            watch(number / rounds)
            journal.note(row.measure(ground, number))
        return journal.rounds[:rounds]


def _judged(row: LayerRow, rounds: Sequence[Round], seed: int) -> _Judged:
    finding = row.judge(rounds, seed)
    entry = None if row.target is None else target(finding.figure, Op.AT_LEAST, row.target)
    note = "; ".join(part for part in (f"{row.layer}: {row.off} → {row.on}", finding.figure.note) if part)
    if entry is not None and not entry.holds:
        note = f"{note}; {MISSED}{finding.reason if entry.bound is not None else 'too few rounds for an interval'}"
    return _Judged(
        figures=(replace(finding.figure, note=note), _quality(row, rounds[0], seed), *finding.beside),
        must_reach=entry,
    )


def _quality(row: LayerRow, first: Round, seed: int) -> Figure:
    """Return the share of right answers on, less that off, to the same requests."""
    off, on = (np.array([answer.correct for answer in arm.answers], dtype=float) for arm in (first.off, first.on))
    return measured(
        f"{row.name}{QUALITY}",
        paired_difference(on, off, seed, bounds=(-1.0, 1.0)),
        fallback=float(on.mean() - off.mean()),
        n=len(on),
        note=f"by request; right {off.mean():.3f} off, {on.mean():.3f} on",
    )


def _records(row: LayerRow, asks: Sequence[Ask], first: Round) -> list[Record]:
    return [
        Record(
            item=ask.item.digest,
            arm=f"{row.name}.{arm}",
            task=ask.item.task,
            difficulty=str(ask.item.difficulty),
            steps=answer.steps,
            seconds=answer.seconds,
            correct=answer.correct,
        )
        for arm, answers in (("off", first.off.answers), ("on", first.on.answers))
        for ask, answer in zip(asks, answers, strict=True)
    ]
