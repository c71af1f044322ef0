"""``unmask curve``."""

import argparse
import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from unmask.cli.exits import Exit
from unmask.cli.tools import Tools
from unmask.config import Settings
from unmask.errors import UnknownModelError
from unmask.tasks.item import Split
from unmask.tune.curve import CurveSet
from unmask.tune.origin import Origin, commit, machine
from unmask.tune.picture import check_pictures, save_curve_picture
from unmask.tune.report import CurveReport, landmark_table, point_tables, report_curves, report_json
from unmask.tune.run import CURVES, open_run
from unmask.tune.settings import Asked, make_settings
from unmask.types import StrategyChoice, StrategyName

LINES = 10
"""Lines that tell of progress where nothing can be redrawn."""


def run_curve(args: argparse.Namespace, tools: Tools) -> int:
    """Measure what steps buy, per task type; keep curves and pictures, and show them."""
    check_pictures()
    split = Split(args.split)
    folder = args.folder or Path("runs") / f"curve-{args.model}{'' if split is Split.TUNE else f'-{split}'}"
    curves = asyncio.run(_measure(args, folder, tools))
    reports = report_curves(curves)
    for report in reports:
        save_curve_picture(report, curves, folder / f"{report.task}.svg")
    _show(args, curves, reports, tools)
    tools.say(f"kept: {folder / CURVES}, {', '.join(f'{report.task}.svg' for report in reports)}")
    return Exit.OK


async def _measure(args: argparse.Namespace, folder: Path, tools: Tools) -> CurveSet:
    backend = tools.make_backend(Settings(models=(args.model,)))
    try:
        models = {model.name: model for model in backend.models()}
        if args.model not in models:
            raise UnknownModelError(args.model, models)
        strategy = StrategyChoice() if args.strategy is None else StrategyChoice(name=StrategyName(args.strategy))
        asked = Asked(
            tasks=tuple(args.task or ()),
            items=args.items,
            grid=args.grid or (),
            seed=args.seed,
            strategy=StrategyChoice(name=strategy.name, threshold=args.threshold),
            canvas_length=args.canvas_length,
            in_flight=args.in_flight,
            split=Split(args.split),
        )
        settings = make_settings(models[args.model], asked)
        origin = Origin(machine=machine(), commit=commit(), date=datetime.now(UTC).isoformat(timespec="seconds"))
        run = open_run(settings, origin, folder, resume=args.resume, say=tools.say)
        with _progress(tools, args.model) as progress:
            return await run.measure(backend, progress)
    finally:
        await backend.drain()


def _show(args: argparse.Namespace, curves: CurveSet, reports: tuple[CurveReport, ...], tools: Tools) -> None:
    if args.json:
        tools.write_json(report_json(curves, reports))
        return
    for table in point_tables(reports):
        tools.out.print(table)
    if curves.settings.split is Split.TUNE:
        tools.out.print(landmark_table(reports))


@contextmanager
def _progress(tools: Tools, name: str) -> Iterator[Callable[[int, int], None]]:
    """Yield what shows progress: a bar on a terminal, a line each tenth elsewhere."""
    if not tools.err.is_terminal or tools.err.is_dumb_terminal:
        yield _Lines(tools.say)
        return
    columns = (TextColumn("curve {task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    left = (TextColumn("left"), TimeRemainingColumn(elapsed_when_finished=False))
    with Progress(*columns, *left, console=tools.err, transient=True, speed_estimate_period=120) as bar:
        task = bar.add_task(name)
        yield lambda done, total: bar.update(task, completed=done, total=total)


class _Lines:
    """Says how far a run is, each time another tenth is done."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._said = 0

    def __call__(self, done: int, total: int) -> None:
        tenth = done * LINES // total
        if tenth > self._said:
            self._said = tenth
            self._say(f"{done} of {total} measured")
