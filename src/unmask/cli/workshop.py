"""``unmask train`` and ``unmask bench``: parsed here, run where they are made."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from unmask.app.errors import EngineMissingError
from unmask.app.local import ENGINE_MODULES
from unmask.cli.bench_parser import OPTIONS_OF, takes
from unmask.cli.exits import UsageError
from unmask.cli.tools import Tools


def run_train(args: argparse.Namespace, _: Tools) -> int:
    """Train an embedded model."""
    try:
        from unmask.train.command import run
    except ModuleNotFoundError as error:
        raise _explained(error) from error
    args.folder = args.folder or Path("runs") / args.name
    return run(args)


def run_bench(args: argparse.Namespace, _: Tools) -> int:
    """Measure.

    Raises:
        UsageError: an option is of another bench.
    """
    for option, benches in OPTIONS_OF.items():
        if getattr(args, option) is not None and not takes(args.name, option):
            name, of = option.replace("_", "-"), _listed(benches)
            raise UsageError(f"--{name} is for bench {of}, and bench {args.name} was asked for: leave one of them out")
    try:
        from unmask.bench.command import run
    except ModuleNotFoundError as error:
        raise _explained(error) from error
    return run(args)


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _explained(error: ModuleNotFoundError) -> Exception:
    """Say how to install what an engine needs; anything else that is missing is a fault of ours."""
    return EngineMissingError(error.name) if error.name in ENGINE_MODULES else error
