"""From a command line to an exit code."""

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType

from unmask.cli.exits import Exit, exit_of
from unmask.cli.gate_exits import refused, unheard
from unmask.cli.parser import build_parser
from unmask.cli.tools import Tools, system_tools
from unmask.errors import UnmaskError

COMMANDS: Mapping[str, tuple[str, str]] = MappingProxyType({
    "serve": ("unmask.cli.serve", "run_serve"),
    "config": ("unmask.cli.config", "run_config"),
    "generate": ("unmask.cli.generate", "run_generate"),
    "examples": ("unmask.cli.examples", "run_examples"),
    "models": ("unmask.cli.models", "run_models"),
    "policy": ("unmask.cli.policy", "run_policy"),
    "keys": ("unmask.cli.keys", "run_keys"),
    "tenants": ("unmask.cli.tenants", "run_tenants"),
    "controls": ("unmask.cli.controls", "run_controls"),
    "ledger": ("unmask.cli.ledger", "run_ledger"),
    "savings": ("unmask.cli.savings", "run_savings"),
    "cache": ("unmask.cli.cache", "run_cache"),
    "train": ("unmask.cli.workshop", "run_train"),
    "curve": ("unmask.cli.curve", "run_curve"),
    "tune": ("unmask.cli.tune", "run_tune"),
    "recalibrate": ("unmask.cli.recalibrate", "run_recalibrate"),
    "bench": ("unmask.cli.workshop", "run_bench"),
    "gate": ("unmask.cli.gate", "run_gate"),
    "world": ("unmask.cli.world", "run_world"),
    "deploy": ("unmask.cli.deploy", "run_deploy"),
})  # fmt: skip
"""Where the function of each command is."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command as a process does; the arguments are the process's own unless given."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A terminal that cannot show a character gets its escape, not a traceback.
            stream.reconfigure(errors="backslashreplace")
    try:
        return run(argv, system_tools)
    except Exception:  # noqa: BLE001 - its traceback is shown, and the process ends
        # Python would end with 1, which a gate says for FAIL.
        traceback.print_exc()
        return refused(Exit.MISSED, sys.argv[1:] if argv is None else argv)


def run(argv: Sequence[str] | None, make_tools: Callable[[], Tools]) -> int:
    """Run a command with the tools of the caller's choice; only what nobody foresaw leaves as an exception."""
    try:
        args = build_parser().parse_args(argv)
    except SystemExit as stop:
        return refused(int(stop.code or 0), sys.argv[1:] if argv is None else argv)
    tools = make_tools()
    try:
        return _command(args)(args, tools)
    except UnmaskError as error:
        tools.say(f"unmask {args.command}: {_told(error)}")
        return refused(exit_of(error), [args.command])
    except KeyboardInterrupt:
        tools.say("interrupted")
        return Exit.INTERRUPTED
    except (BrokenPipeError, SystemExit):
        # Whoever read the results has seen enough, as in `unmask examples | head`; rich ends the process by itself.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return unheard(args.command)


def _told(error: UnmaskError) -> str:
    lines = error.message.splitlines() if error.is_list else [error.message]
    return "\n".join(" ".join(line.split()) for line in lines)


def _command(args: argparse.Namespace) -> Callable[[argparse.Namespace, Tools], int]:
    """Import what runs a command, and nothing else: `--help` is instant and needs no torch."""
    module, name = COMMANDS[args.command]
    command: Callable[[argparse.Namespace, Tools], int] = getattr(import_module(module), name)
    return command
