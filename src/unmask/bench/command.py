"""``unmask bench``: runs benches, prints a table and a picture, judges targets."""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from unmask.bench.engine_bench import run_engine_bench
from unmask.bench.model_bench import Bench, run_model_bench
from unmask.bench.pictures import save_pictures
from unmask.bench.report import BenchReport, commit, record_lines, to_json
from unmask.bench.table import print_report
from unmask.clock import Clock, SystemClock
from unmask.engine.weights import LoadedModel, load_weights, packaged_weights
from unmask.text.tokenizer import TextTokenizer, packaged_tokenizer

MODEL = "tiny"
RESULTS = Path("bench/results")
HELD, MISSED, COULD_NOT_MEASURE = 0, 1, 3

Watch = Callable[[str, float], None]
Runner = Callable[["Machine", int, bool, Watch], BenchReport]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What benches run on: weights, tokenizer, clock."""

    model: LoadedModel
    tokenizer: TextTokenizer
    clock: Clock


def run(args: argparse.Namespace) -> int:
    """Run the benches that ``args`` names; returns 0 when every target holds, 1 when one does not."""
    console = Console(stderr=True)
    machine = Machine(model=load_weights(packaged_weights(MODEL)), tokenizer=packaged_tokenizer(), clock=SystemClock())
    reports = [_run_one(name, machine, args, console) for name in _chosen(args.name)]
    if args.records is not None:
        args.records.write_bytes(b"".join(record_lines(report.records) for report in reports))
    if args.json:
        body = (
            to_json(reports[0]) if len(reports) == 1 else b'{"benches": [' + b",\n".join(map(to_json, reports)) + b"]}"
        )
        sys.stdout.write(body.decode() + "\n")
    else:
        for report in reports:
            print_report(report, Console())
    if any(entry.bound is None for report in reports for entry in report.must_reach):
        return COULD_NOT_MEASURE
    return HELD if all(entry.holds for report in reports for entry in report.must_reach) else MISSED


def _chosen(name: str) -> tuple[str, ...]:
    return tuple(BENCHES) if name == "all" else (name,)


def _run_one(name: str, machine: Machine, args: argparse.Namespace, console: Console) -> BenchReport:
    columns = (TextColumn("bench {task.fields[bench]}: {task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=1.0, bench=name)

        def watch(stage: str, fraction: float) -> None:
            bar.update(task, description=stage, completed=fraction)

        report = BENCHES[name](machine, args.seed, args.quick, watch)
    if args.quick:
        console.print("[yellow]--quick: these figures decide nothing[/yellow]")
    elif commit() is not None and RESULTS.is_dir():
        # Run from a checkout, a full run is kept: result and pictures go where the README reads them.
        (RESULTS / f"{name}.json").write_bytes(to_json(report) + b"\n")
        console.print("kept: " + ", ".join(map(str, (RESULTS / f"{name}.json", *save_pictures(report, RESULTS)))))
    return report


def _engine(machine: Machine, seed: int, quick: bool, watch: Watch) -> BenchReport:  # noqa: FBT001 - one signature for all
    torch.set_grad_enabled(False)
    return run_engine_bench(machine.model, machine.tokenizer, machine.clock, seed=seed, quick=quick, progress=watch)


def _model(machine: Machine, seed: int, quick: bool, watch: Watch) -> BenchReport:  # noqa: FBT001 - one signature for all
    bench = Bench(model=machine.model, tokenizer=machine.tokenizer, clock=machine.clock)
    return run_model_bench(bench, seed=seed, quick=quick, progress=watch)


BENCHES: dict[str, Runner] = {"engine": _engine, "model": _model}
