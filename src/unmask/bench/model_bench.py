"""``unmask bench model``: what the weights can do, per task type and difficulty, and what steps buy."""

from collections.abc import Callable, Sequence
from random import Random

from unmask.bench.arms import main_arm
from unmask.bench.bench import Bench
from unmask.bench.drive import drive
from unmask.bench.grades import GRADES, Grade
from unmask.bench.report import BenchReport, Figure, MustReach, Op, Record, measured, target
from unmask.bench.saturation import saturation_figures, saturation_targets
from unmask.bench.workload import item_request
from unmask.local.limits import make_submission
from unmask.local.model import model_info
from unmask.sequence import Sequence as Generation
from unmask.stats import wilson
from unmask.tasks.item import Item, Split
from unmask.tasks.registry import all_tasks
from unmask.tune.curve import Curve, curve_from
from unmask.tune.record import CurveRecord
from unmask.types import Mode

ITEMS = 1000
QUICK_ITEMS = 24
HARDER_ITEMS = 400
GRID = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
QUICK_GRID = (1, 4, 32)
GRID_ITEMS = 400
FULL = "full"
AUTOREGRESSIVE = "ar"

Progress = Callable[[str, float], None]


def run_model_bench(bench: Bench, *, seed: int, quick: bool, progress: Progress) -> BenchReport:
    """Measure accuracy at one step per position and autoregressively, then over the grid of budgets."""
    figures: list[Figure] = []
    targets: list[MustReach] = []
    records: list[Record] = []
    curves: list[Curve] = []
    grid = QUICK_GRID if quick else GRID
    for index, grade in enumerate(GRADES):
        progress(grade.task, index / len(GRADES))
        rng = Random(f"{seed}/{grade.task}")
        stated = draw_items(rng, grade, QUICK_ITEMS if quick else ITEMS, stated=True)
        harder = draw_items(rng, grade, QUICK_ITEMS if quick else HARDER_ITEMS, stated=False)
        full = answer(bench, stated + harder, arm=FULL, max_steps=grid[-1])
        causal = answer(bench, stated + harder, arm=AUTOREGRESSIVE, max_steps=grid[-1], mode=Mode.AUTOREGRESSIVE)
        accuracy = _accuracy(f"{grade.task}_accuracy", full[: len(stated)])
        figures += [
            accuracy,
            _accuracy(f"{grade.task}_accuracy_ar", causal[: len(stated)]),
            *_by_difficulty(grade, stated + harder, full, causal),
        ]
        targets.append(target(accuracy, Op.AT_LEAST, grade.target))
        mixture = _mixture_items(rng, grade, QUICK_ITEMS if quick else GRID_ITEMS)
        curve, points = _curve(bench, grade, mixture, grid)
        curves.append(curve)
        records += [*full, *causal, *points]
    progress("done", 1.0)
    figures += [figure for curve in curves for figure in saturation_figures(curve, seed)]
    return bench.report(
        "model",
        seed=seed,
        quick=quick,
        figures=tuple(figures),
        must_reach=(*targets, *saturation_targets(curves)),
        records=tuple(records),
    )


def draw_items(rng: Random, grade: Grade, count: int, *, stated: bool) -> list[Item]:
    """Draw test items inside (or outside) the difficulty a target is stated for; nothing where none is outside."""
    if not stated and not grade.has_harder:
        return []
    task = all_tasks()[grade.task]
    items: dict[str, Item] = {}
    while len(items) < count:
        item = task.generate(rng, Split.TEST)
        if grade.holds(item.difficulty) is stated:
            items[item.canonical] = item
    return list(items.values())


def _mixture_items(rng: Random, grade: Grade, count: int) -> list[Item]:
    task = all_tasks()[grade.task]
    return [task.generate(rng, Split.TEST) for _ in range(count)]


def answer(
    bench: Bench, items: Sequence[Item], *, arm: str, max_steps: int, mode: Mode = Mode.DIFFUSION
) -> list[Record]:
    """Answer items as one batch and check them against the truth."""
    info = model_info(bench.model, bench.precision)
    work = [
        make_submission(
            item_request(item, bench.model.name, max_steps=max_steps, mode=mode),
            info,
            tuple(bench.tokenizer.encode_chat(item.messages)),
        )
        for item in items
    ]
    run = drive(main_arm(bench).core, work, bench.clock)
    return [_record(item, arm, sequence) for item, sequence in zip(items, run.sequences, strict=True)]


def _record(item: Item, arm: str, sequence: Generation) -> Record:
    assert sequence.finished is not None
    assert sequence.started is not None
    return Record(
        item=item.digest,
        arm=arm,
        task=item.task,
        difficulty=str(item.difficulty),
        steps=sequence.steps,
        seconds=sequence.finished - sequence.started,
        correct=all_tasks()[item.task].check(item, sequence.text).passed,
    )


def _accuracy(name: str, records: Sequence[Record]) -> Figure:
    right = sum(record.correct is True for record in records)
    return measured(name, wilson(right, len(records)), fallback=0.0, n=len(records))


def _by_difficulty(
    grade: Grade, items: Sequence[Item], full: Sequence[Record], causal: Sequence[Record]
) -> list[Figure]:
    labels = [grade.label(item.difficulty) for item in items]
    figures: list[Figure] = []
    for label in sorted(set(labels)):
        chosen = [index for index, other in enumerate(labels) if other == label]
        figures += [
            _accuracy(f"{grade.task}[{label}]_accuracy", [full[index] for index in chosen]),
            _accuracy(f"{grade.task}[{label}]_accuracy_ar", [causal[index] for index in chosen]),
        ]
    return figures


def _curve(bench: Bench, grade: Grade, items: Sequence[Item], grid: Sequence[int]) -> tuple[Curve, list[Record]]:
    """Answer the same items at every budget, each budget run on its own."""
    records = {steps: answer(bench, items, arm=f"steps_{steps}", max_steps=steps) for steps in grid}
    measured = [_measurement(record, steps) for steps in grid for record in records[steps]]
    curve = curve_from(grade.task, grid, measured, [item.digest for item in items])
    return curve, [record for steps in grid for record in records[steps]]


def _measurement(record: Record, budget: int) -> CurveRecord:
    return CurveRecord(
        task=record.task,
        item=record.item,
        difficulty=record.difficulty,
        budget=budget,
        steps=record.steps,
        seconds=record.seconds,
        correct=record.correct is True,
    )
