"""``unmask tune``."""

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.table import Table

from unmask.cli.exits import Exit
from unmask.cli.intervals import interval_record, shown
from unmask.cli.tools import Tools
from unmask.cli.tuning import run_exit, run_finality, run_replay
from unmask.errors import UnmaskError

if TYPE_CHECKING:
    from unmask.tune.classifier import ClassifierReport, ClassifierRow


class TuneMissingError(UnmaskError):
    """Something is to be tuned and what does it is not installed."""

    def __init__(self, module: str) -> None:
        super().__init__(f"{module} is not installed, and tuning needs it: pip install '.[tune]' in a checkout")
        self.args = (module,)


def run_tune(args: argparse.Namespace, tools: Tools) -> int:
    """Run the part of tuning that ``args`` names."""
    if args.part == "classifier":
        return _run_classifier(args, tools)
    with needs_scikit_learn():
        return _learning(args.part)(args, tools)


def _learning(part: str) -> Callable[[argparse.Namespace, Tools], int]:
    from unmask.cli.difficulty import run_difficulty
    from unmask.cli.routing import run_tune_routing

    parts = {
        "difficulty": run_difficulty,
        "finality": run_finality,
        "exit": run_exit,
        "replay": run_replay,
        "routing": run_tune_routing,
    }
    return parts[part]


@contextmanager
def needs_scikit_learn() -> Iterator[None]:
    """Say what to install where scikit-learn is missing; anything else that is missing is a fault of ours."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "sklearn":
            raise
        raise TuneMissingError("scikit-learn") from error


def _run_classifier(args: argparse.Namespace, tools: Tools) -> int:
    from unmask.control.classify import write_reliability
    from unmask.tune.classifier import measure_classifier

    report = measure_classifier(items=args.items, seed=args.seed)
    if args.out is not None:
        write_reliability(args.out, dict(report.reliability), seed=report.seed, items=report.items)
    if args.json:
        tools.write_json(
            {
                "seed": report.seed,
                "items": report.items,
                "rows": [_row_record(row) for row in report.rows],
                "reliability": {
                    task: {"recognised": found.recognised, "right": found.right, "confidence": found.confidence}
                    for task, found in report.reliability
                },
            }
        )
        return Exit.OK
    tools.out.print(_classifier_table(report))
    for task, found in report.reliability:
        tools.say(f"{task}: right {found.right} of the {found.recognised} times it was said")
    return Exit.OK


def _classifier_table(report: "ClassifierReport") -> Table:
    table = Table(caption="open: left at `default`, which costs steps only; wrong: another task type; 95 % intervals")
    for name in ("prompts", "task", "n", "right", "open", "wrong"):
        table.add_column(name)
    for row in report.rows:
        table.add_row(
            row.population.value,
            row.truth,
            str(row.n),
            shown(row.recall, 100, "%"),
            f"{row.open / row.n:.1%}",
            shown(row.error, 100, "%"),
        )
    return table


def _row_record(row: "ClassifierRow") -> dict[str, object]:
    return {
        "population": row.population.value,
        "task": row.truth,
        "n": row.n,
        "right": row.right,
        "open": row.open,
        "wrong": row.wrong,
        "error": interval_record(row.error),
    }
