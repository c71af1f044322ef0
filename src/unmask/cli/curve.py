"""``unmask curve``."""

import argparse
import asyncio
from pathlib import Path

from unmask.backend import Backend, ModelInfo
from unmask.cli.exits import Exit, UsageError
from unmask.cli.loaded import named_settings
from unmask.cli.own_tasks import Own, keep_criteria, own_of
from unmask.cli.progress import progress_of
from unmask.cli.strategy import strategy_of
from unmask.cli.tools import Tools
from unmask.errors import UnknownModelError
from unmask.tasks.item import Split
from unmask.tune.curve import CurveSet
from unmask.tune.exit_file import read_exits
from unmask.tune.items import PACKAGED, ItemSource
from unmask.tune.origin import Origin, commit, machine
from unmask.tune.picture import check_pictures, save_curve_picture
from unmask.tune.report import CurveReport, landmark_table, point_tables, report_curves, report_json
from unmask.tune.run import CURVES, open_run
from unmask.tune.settings import Asked, make_settings
from unmask.tune.task_strategy import TaskStrategy


def run_curve(args: argparse.Namespace, tools: Tools) -> int:
    """Measure what steps buy, per task type; keep curves and pictures, and show them."""
    check_pictures()
    split = Split(args.split)
    _, name = named_settings(args.model, args.remote)
    folder = args.folder or Path("runs") / f"curve-{name}{'' if split is Split.TUNE else f'-{split}'}"
    own = own_of(args)
    curves = asyncio.run(_measure(args, folder, tools, own))
    if own is not None:
        keep_criteria(own, folder, tools)
    reports = report_curves(curves)
    for report in reports:
        save_curve_picture(report, curves, folder / f"{report.task}.svg")
    _show(args, curves, reports, tools)
    tools.say(f"kept: {folder / CURVES}, {', '.join(f'{report.task}.svg' for report in reports)}")
    return Exit.OK


async def _measure(args: argparse.Namespace, folder: Path, tools: Tools, own: Own | None) -> CurveSet:
    chosen = None if own is None else own.chosen(tuple(args.task or ()), Split(args.split), args.items, tools)
    settings, name = named_settings(args.model, args.remote)
    backend = tools.make_backend(settings)
    try:
        models = {model.name: model for model in backend.models()}
        if name not in models:
            raise UnknownModelError(name, models)
        asked = Asked(
            tasks=tuple(args.task or ()) if chosen is None else chosen,
            items=args.items,
            grid=args.grid or (),
            seed=args.seed,
            strategy=strategy_of(args),
            canvas_length=args.canvas_length,
            in_flight=args.in_flight,
            split=Split(args.split),
            own=() if args.exits is None else _tuned(args.exits, models[name]),
            tasks_file=None if own is None else own.tasks.file,
        )
        source = PACKAGED if own is None else own.tasks
        return await measure_curves(backend, models[name], asked, folder, tools, resume=args.resume, source=source)
    finally:
        await backend.drain()


def _tuned(path: Path, model: ModelInfo) -> tuple[TaskStrategy, ...]:
    """Return the strategies that exits were tuned with."""
    found = read_exits(path, model=model.name, model_digest=model.digest).strategies
    learned = [task for task, tuned in found.items() if tuned.finality is not None]
    if learned:
        raise UsageError(
            f"--exits {path}: {', '.join(learned)} reads a finality model, which curves cannot be measured with yet. "
            "Tune exits without --finality."
        )
    return tuple(TaskStrategy(task=task, strategy=tuned.strategy) for task, tuned in found.items())


async def measure_curves(
    backend: Backend,
    model: ModelInfo,
    asked: Asked,
    folder: Path,
    tools: Tools,
    *,
    resume: bool,
    source: ItemSource = PACKAGED,
) -> CurveSet:
    """Measure curves in a folder, or what it lacks of them, and show how far that is."""
    settings = make_settings(model, asked)
    origin = Origin(machine=machine(), commit=commit(), date=tools.now().isoformat(timespec="seconds"))
    run = open_run(settings, origin, folder, resume=resume, say=tools.say, source=source)
    split = "" if settings.split is Split.TUNE else f" {settings.split}"
    with progress_of(tools, f"curve {model.name}{split}") as progress:
        return await run.measure(backend, progress)


def _show(args: argparse.Namespace, curves: CurveSet, reports: tuple[CurveReport, ...], tools: Tools) -> None:
    if args.json:
        tools.write_json(report_json(curves, reports))
        return
    for table in point_tables(reports):
        tools.out.print(table)
    if curves.settings.split is Split.TUNE:
        tools.out.print(landmark_table(reports))
