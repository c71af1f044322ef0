"""``unmask bench layers``: what each layer contributes, off against on, with the quality that it costs."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from unmask.bench.bench import Bench
from unmask.bench.layer_row import ROUNDS, Finding, Ground, LayerRow, Round
from unmask.bench.layers_journal import RowOf, open_row_journal
from unmask.bench.layers_picture import QUALITY
from unmask.bench.layers_workload import WorkloadSpec, draw_workload
from unmask.bench.report import BenchReport, Figure, MustReach, Op, Record, measured, target
from unmask.stats import paired_difference
from unmask.tune.origin import commit, machine

QUICK_ROUNDS = 1
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
    most = QUICK_ROUNDS if quick else ROUNDS
    ground = Ground(
        bench=bench,
        workload=workload,
        seed=seed,
        rounds=most,
        is_quick=quick,
        sleep=sleep,
        processor=processor,
    )
    found: list[tuple[LayerRow, tuple[Round, ...]]] = []
    for place, row in enumerate(basis.rows):

        def watch(share: float, row: LayerRow = row, place: int = place) -> None:
            progress(row.name, (place + share) / len(basis.rows))

        own = replace(ground, rounds=min(most, row.terms.rounds))
        found.append((row, _measured(row, own, basis.folder, watch)))
    progress("done", 1.0)
    judged = [_judged(row, measured_rounds, seed) for row, measured_rounds in found]
    return bench.report(
        "layers",
        seed=seed,
        quick=quick,
        figures=tuple(figure for one in judged for figure in one.figures),
        must_reach=tuple(entry for one in judged for entry in one.must_reach),
        records=tuple(record for row, rounds in found for record in _records(row, rounds)),
        workload=workload.digest,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    figures: tuple[Figure, ...]
    must_reach: tuple[MustReach, ...]


def _measured(row: LayerRow, ground: Ground, folder: Path, watch: Callable[[float], None]) -> tuple[Round, ...]:
    of = RowOf(
        row=row.name,
        model_digest=ground.bench.model.digest,
        precision=ground.bench.precision,
        workload=ground.workload.digest,
        seed=ground.seed,
        rounds=ground.rounds,
        machine=machine(),
        commit=commit(),
    )
    with open_row_journal(folder, of) as journal:
        for number in range(len(journal.entries), ground.rounds):
            watch(number / ground.rounds)
            journal.note(row.measure(ground, number))
        return journal.entries


def _judged(row: LayerRow, rounds: Sequence[Round], seed: int) -> _Judged:
    finding, terms = row.judge(rounds, seed), row.terms
    quality = _quality(row, rounds, finding, seed)
    wanted = ((finding.figure, terms.target), (quality, terms.least_quality))
    entries = tuple(target(figure, Op.AT_LEAST, least) for figure, least in wanted if least is not None)
    note = "; ".join(part for part in (f"{row.layer}: {row.off} → {row.on}", finding.figure.note) if part)
    if not all(entry.holds for entry in entries):
        is_known = all(entry.bound is not None for entry in entries)
        note = f"{note}; {MISSED}{finding.reason if is_known else 'too little data for an interval'}"
    return _Judged(
        figures=(
            replace(finding.figure, note=note),
            quality,
            *_of_saving(terms.saving, finding, quality),
            *finding.beside,
        ),
        must_reach=entries,
    )


def _of_saving(saving: str | None, finding: Finding, quality: Figure) -> tuple[Figure, ...]:
    """Return the figures that `unmask savings keep` takes."""
    if saving is None:
        return ()
    return replace(finding.saved or finding.figure, name=f"{saving}.saved"), replace(quality, name=f"{saving}{QUALITY}")


def _quality(row: LayerRow, rounds: Sequence[Round], finding: Finding, seed: int) -> Figure:
    """Return the share of answers that count on, less that off, to the same requests."""
    off, on = (
        np.array([answer.correct for answer in answers], dtype=float)
        for answers in (
            [one for found in rounds for one in found.off.answers],
            [one for found in rounds for one in found.on.answers],
        )
    )
    return measured(
        f"{row.name}{QUALITY}",
        paired_difference(on, off, seed, bounds=(-1.0, 1.0)),
        fallback=float(on.mean() - off.mean()),
        n=len(on),
        note=f"by request; {finding.counted} {off.mean():.3f} off, {on.mean():.3f} on",
    )


def _records(row: LayerRow, rounds: Sequence[Round]) -> list[Record]:
    return [
        replace(answer, arm=f"{row.name}.{arm}")
        for one in rounds
        for arm, sample in (("off", one.off), ("on", one.on))
        for answer in sample.answers
    ]
