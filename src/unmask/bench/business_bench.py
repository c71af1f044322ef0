"""``unmask bench business``: what prompt refinement and the confidence stop save, and what they do to answers."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from unmask.bench.arms import BASE
from unmask.bench.bench import Bench
from unmask.bench.business_prompts import TASKS, redundant
from unmask.bench.business_serving import Asking, Served, controller, serve_all
from unmask.bench.business_stop import SAVED, StopAnswer, one_minus, read_stop, stop_figures
from unmask.bench.report import BenchReport, Figure, MustReach, Op, Record, measured, target
from unmask.control.sources import NoPolicies
from unmask.local.backend import LocalBackend
from unmask.local.model import serve_model
from unmask.refine.refine import refine
from unmask.savings.registry import CONFIDENCE_STOP
from unmask.stats import paired_difference, ratio_interval, wilson
from unmask.tasks.item import Item, Split
from unmask.tasks.registry import all_tasks
from unmask.tune.items import draw_items

Progress = Callable[[str, float], None]
LEAST_SAVED = 0.25
DIALOGUE = "dialogue"
REFINED, UNREFINED = "refined", "unrefined"


@dataclass(frozen=True, slots=True, kw_only=True)
class BusinessSizes:
    """How much is measured: dialogue items for the stop, and items a task type for refinement, of a split."""

    stop: int
    refine: int
    split: Split = Split.TEST


FULL = BusinessSizes(stop=1_000, refine=400)
QUICK = BusinessSizes(stop=16, refine=4)


def run_business_bench(
    bench: Bench, *, seed: int, quick: bool, progress: Progress, sizes: BusinessSizes | None = None
) -> BenchReport:
    """Answer the same items with each saving and without it; budgets are the model's own, under no policy.

    Args:
        bench: what is measured.
        seed: of items, redundancy and resampling.
        quick: whether few items are enough, as nothing is to be decided.
        progress: told of stages and shares.
        sizes: by default those of a full or quick run.

    Raises:
        UnmaskError: the engine failed a request.
    """
    run = _Run(bench, sizes or (QUICK if quick else FULL), seed, progress)
    figures, records = asyncio.run(run.measure())
    return bench.report(
        "business",
        seed=seed,
        quick=quick,
        figures=tuple(figures),
        must_reach=(_target(figures),),
        records=tuple(records),
    )


def _target(figures: Sequence[Figure]) -> MustReach:
    saved = next(figure for figure in figures if figure.name == SAVED)
    named = Figure(name="wasted_output_saving", value=saved.value, low=saved.low, high=saved.high, n=saved.n)
    return target(named, Op.AT_LEAST, LEAST_SAVED)


class _Run:
    def __init__(self, bench: Bench, sizes: BusinessSizes, seed: int, progress: Progress) -> None:
        self._bench = bench
        self._sizes = sizes
        self._seed = seed
        self._progress = progress
        self._done = 0

    async def measure(self) -> tuple[list[Figure], list[Record]]:
        bench = self._bench
        served = serve_model(bench.model, bench.tokenizer, BASE, bench.clock, precision=bench.precision)
        backend = LocalBackend((served,))
        try:
            stop = await self._stop(backend)
            refined = await self._refine(backend)
        finally:
            await backend.drain()
        return stop[0] + refined[0], stop[1] + refined[1]

    async def _stop(self, backend: LocalBackend) -> tuple[list[Figure], list[Record]]:
        items = draw_items(DIALOGUE, self._sizes.stop, self._seed, self._sizes.split)
        asked = [Asking(messages=item.messages, task=item.task) for item in items]
        answers: dict[str, list[StopAnswer]] = {}
        for arm, savings in (("without_stop", ()), ("with_stop", (CONFIDENCE_STOP,))):
            served = await self._serve(backend, savings, asked, arm)
            answers[arm] = [
                read_stop(item, one.generation, self._bench.tokenizer) for item, one in zip(items, served, strict=True)
            ]
        records = [
            _record(item, arm, steps=one.steps, seconds=one.seconds, correct=one.right)
            for arm, found in answers.items()
            for item, one in zip(items, found, strict=True)
        ]
        return stop_figures(answers["without_stop"], answers["with_stop"], self._seed), records

    async def _refine(self, backend: LocalBackend) -> tuple[list[Figure], list[Record]]:
        items = [item for task in TASKS for item in draw_items(task, self._sizes.refine, self._seed, self._sizes.split)]
        prompts = {UNREFINED: [redundant(item, self._seed) for item in items]}
        prompts[REFINED] = [refine(messages).messages for messages in prompts[UNREFINED]]
        right: dict[str, list[bool]] = {}
        records: list[Record] = []
        for arm, found in prompts.items():
            asked = [Asking(messages=messages, task=item.task) for item, messages in zip(items, found, strict=True)]
            served = await self._serve(backend, (), asked, arm)
            pairs = list(zip(items, served, strict=True))
            right[arm] = [all_tasks()[item.task].check(item, one.generation.text).passed for item, one in pairs]
            records += [
                _record(
                    item,
                    arm,
                    steps=one.generation.usage.steps_used,
                    seconds=one.generation.timing.finished - one.generation.timing.started,
                    correct=passed,
                )
                for (item, one), passed in zip(pairs, right[arm], strict=True)
            ]
        lengths = {arm: [self._bench.tokenizer.chat_length(one) for one in found] for arm, found in prompts.items()}
        return list(refine_figures(items, lengths, right, self._seed)), records

    async def _serve(
        self, backend: LocalBackend, savings: Sequence[str], asked: Sequence[Asking], stage: str
    ) -> list[Served]:
        expected = 2 * (self._sizes.stop + len(TASKS) * self._sizes.refine)

        def done(count: int) -> None:
            self._done += count
            self._progress(stage, self._done / expected)

        return await serve_all(backend, controller(backend, NoPolicies(), savings), asked, done)


def refine_figures(
    items: Sequence[Item], lengths: dict[str, list[int]], right: dict[str, list[bool]], seed: int
) -> Iterator[Figure]:
    """Return what refinement saves of redundant prompts, and what that does to answers, over all and by task type.

    Args:
        items: what was asked.
        lengths: tokens of prompts, by arm and item.
        right: whether answers are right, by arm and item.
        seed: of resampling.
    """
    everything = range(len(items))
    yield from _compared("prompt_refinement", everything, lengths, right, seed)
    for task in TASKS:
        places = [place for place in everything if items[place].task == task]
        yield from _compared(f"prompt_refinement.{task}", places, lengths, right, seed)
    for arm, found in right.items():
        yield measured(f"{arm}.quality", wilson(sum(found), len(found)), fallback=0.0, n=len(found))


def _compared(
    name: str, places: Sequence[int], lengths: dict[str, list[int]], right: dict[str, list[bool]], seed: int
) -> Iterator[Figure]:
    after, before = ([float(lengths[arm][place]) for place in places] for arm in (REFINED, UNREFINED))
    won, lost = ([float(right[arm][place]) for place in places] for arm in (REFINED, UNREFINED))
    saved = one_minus(ratio_interval(after, before, seed, paired=True))
    yield measured(f"{name}.saved", saved, fallback=1 - sum(after) / max(1.0, sum(before)), n=len(places))
    difference = paired_difference(won, lost, seed, bounds=(-1.0, 1.0))
    fallback = (sum(won) - sum(lost)) / max(1, len(places))
    yield measured(f"{name}.quality_difference", difference, fallback=fallback, n=len(places))


def _record(item: Item, arm: str, *, steps: int, seconds: float, correct: bool) -> Record:
    return Record(
        item=item.digest,
        arm=arm,
        task=item.task,
        difficulty=str(item.difficulty),
        steps=steps,
        seconds=seconds,
        correct=correct,
    )
