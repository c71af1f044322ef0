"""From a command line to an exit code."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from unmask.cli.exits import Exit, exit_of
from unmask.cli.parser import build_parser
from unmask.cli.tools import Tools, system_tools
from unmask.errors import UnmaskError


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command as a process does; the arguments are the process's own unless given."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A terminal that cannot show a character gets its escape, not a traceback.
            stream.reconfigure(errors="backslashreplace")
    return run(argv, system_tools)


def run(argv: Sequence[str] | None, make_tools: Callable[[], Tools]) -> int:
    """Run a command with the tools of the caller's choice; only what nobody foresaw leaves as an exception."""
    try:
        args = build_parser().parse_args(argv)
    except SystemExit as stop:
        return int(stop.code or 0)
    tools = make_tools()
    try:
        return _command(args)(args, tools)
    except UnmaskError as error:
        tools.say(f"unmask {args.command}: {' '.join(error.message.split())}")
        return exit_of(error)
    except KeyboardInterrupt:
        tools.say("interrupted")
        return Exit.INTERRUPTED
    except BrokenPipeError:
        # Whoever read the results has seen enough, as in `unmask examples | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK


def _command(args: argparse.Namespace) -> Callable[[argparse.Namespace, Tools], int]:
    command: Callable[[argparse.Namespace, Tools], int]
    match args.command:
        case "serve":
            from unmask.cli.serve import run_serve

            command = run_serve
        case "config":
            from unmask.cli.config import run_config

            command = run_config
        case "generate":
            from unmask.cli.generate import run_generate

            command = run_generate
        case "examples":
            from unmask.cli.examples import run_examples

            command = run_examples
        case "models":
            from unmask.cli.models import run_models

            command = run_models
        case "controls":
            from unmask.cli.controls import run_controls

            command = run_controls
        case "train":
            from unmask.cli.workshop import run_train

            command = run_train
        case _:
            from unmask.cli.workshop import run_bench

            command = run_bench
    return command
