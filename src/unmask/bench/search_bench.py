"""``unmask bench search``: quality against all denoise steps, of searches and of what they have to beat."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from unmask.bench.arms import BASE
from unmask.bench.bench import Bench
from unmask.bench.report import BenchReport, Figure, Record
from unmask.bench.search_arms import FULL, ONE, QUICK, SearchArm, SearchSizes, arms_of
from unmask.bench.search_asking import Answers, ask_all
from unmask.bench.search_figures import (
    Gain,
    arm_figures,
    best_arm,
    clearly_better,
    comparable,
    default_width,
    gain_of,
    over_one,
    width_figures,
)
from unmask.bench.search_items import DIALOGUE, TASKS, items_of
from unmask.bench.search_journal import SearchJournal, SearchOf, open_search_journal
from unmask.local.backend import LocalBackend
from unmask.local.model import serve_model
from unmask.search.calibrate import Mark, calibrated
from unmask.tasks.item import Item, Split

Progress = Callable[[str, float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured:
    """One task type: its figures, and all its records."""

    gain: Gain
    figures: tuple[Figure, ...]
    widths: tuple[Figure, ...]
    records: tuple[Record, ...]


def run_search_bench(
    bench: Bench, folder: Path, *, seed: int, quick: bool, progress: Progress, sizes: SearchSizes | None = None
) -> BenchReport:
    """Calibrate thresholds, choose an arm of each task type on tuning items, and measure all of them on test items.

    A run goes on with what the journal of its folder has. Each part has items of its own split, so that nothing is
    measured on what it was chosen on. Where arms send the same request of an item it is run once, and each of them pays
    for its steps.

    Args:
        bench: what is measured.
        folder: of the journal.
        seed: of items and resampling.
        quick: whether few items are enough, as nothing is to be decided.
        progress: told of stages and shares.
        sizes: by default those of a full or quick run.

    Raises:
        JournalError: the journal is damaged, or cannot be written.
        UnmaskError: the engine failed a run.
    """
    chosen = sizes or (QUICK if quick else FULL)
    of = SearchOf(model_digest=bench.model.digest, precision=bench.precision, seed=seed)
    with open_search_journal(folder, of) as journal:
        by_task = asyncio.run(_Run(bench, chosen, seed, journal, progress).measure())
    figure, must_reach = clearly_better([one.gain for one in by_task])
    return bench.report(
        "search",
        seed=seed,
        quick=quick,
        figures=(
            figure,
            *(one.gain.figure for one in by_task),
            default_width([one.widths for one in by_task], chosen.widths),
            *(entry for one in by_task for entry in (*one.widths, *one.figures)),
        ),
        must_reach=(must_reach,),
        records=tuple(record for one in by_task for record in one.records),
    )


class _Run:
    def __init__(self, bench: Bench, sizes: SearchSizes, seed: int, journal: SearchJournal, progress: Progress) -> None:
        self._bench = bench
        self._sizes = sizes
        self._seed = seed
        self._journal = journal
        self._progress = progress
        self._done = 0

    async def measure(self) -> list[_Measured]:
        bench = self._bench
        served = serve_model(bench.model, bench.tokenizer, BASE, bench.clock, precision=bench.precision)
        backend = LocalBackend((served,))
        try:
            return [await self._task(backend, task) for task in TASKS]
        finally:
            await backend.drain()

    async def _task(self, backend: LocalBackend, task: str) -> _Measured:
        sizes, seed = self._sizes, self._seed
        threshold = await self._threshold(backend, task)
        arms = arms_of(sizes, threshold)
        tuned = await self._ask(backend, items_of(task, sizes.tune, seed, Split.TUNE), arms, f"{task}: choosing")
        chosen = best_arm(tuned, arms)
        items = items_of(task, sizes.test + _more(sizes, task), seed, Split.TEST)
        first, more = items[: sizes.test], items[sizes.test :]
        answers = await self._ask(backend, first, arms, f"{task}: measuring")
        compared = comparable(tuned, arms, chosen)
        further = await self._ask(backend, more, compared, f"{task}: comparing")
        together = {arm.name: [*answers[arm.name], *further[arm.name]] for arm in compared}
        gain = gain_of(task, together, compared, chosen, seed)
        return _Measured(
            gain=gain,
            widths=tuple(width_figures(task, answers, arms, seed)),
            figures=(
                over_one(task, together, compared, chosen, seed),
                _threshold_figure(task, threshold),
                *arm_figures(task, answers, seed),
            ),
            records=(*_records(first, answers), *_records(more, further)),
        )

    async def _threshold(self, backend: LocalBackend, task: str) -> float | None:
        """Return the confidence from which an answer of one candidate with all its steps is right nine times in ten."""
        arm = next(arm for arm in arms_of(self._sizes, None) if arm.name == f"{ONE}@{self._sizes.grid[-1]}")
        items = items_of(task, self._sizes.calibrate, self._seed, Split.CALIBRATE)
        answers = (await self._ask(backend, items, [arm], f"{task}: calibrating"))[arm.name]
        return calibrated(
            [Mark(confidence=one.confidence, right=one.correct) for one in answers if one.confidence is not None]
        )

    async def _ask(
        self, backend: LocalBackend, items: Sequence[Item], arms: Sequence[SearchArm], stage: str
    ) -> Answers:
        sizes = self._sizes
        expected = sum(sizes.calibrate + sizes.tune + sizes.test + _more(sizes, task) for task in TASKS)

        def done(count: int) -> None:
            self._done += count
            self._progress(stage, self._done / expected)

        return await ask_all(backend, self._bench.clock, items, arms, self._journal, done)


def _more(sizes: SearchSizes, task: str) -> int:
    return sizes.more if task == DIALOGUE else 0


def _threshold_figure(task: str, threshold: float | None) -> Figure:
    note = "" if threshold is not None else "no confidence is right often enough: what passes the verifier is accepted"
    return Figure(name=f"{task}.threshold", value=threshold or 0.0, unit="nats", note=note)


def _records(items: Sequence[Item], answers: Answers) -> list[Record]:
    return [
        Record(
            item=item.digest,
            arm=arm,
            task=item.task,
            difficulty=str(item.difficulty),
            steps=answer.steps,
            seconds=answer.seconds,
            correct=answer.correct,
        )
        for arm, found in answers.items()
        for item, answer in zip(items, found, strict=True)
    ]
