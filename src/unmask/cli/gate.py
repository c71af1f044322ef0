"""``unmask gate``."""

import argparse
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType

from unmask.cli.tools import Tools

ACTIONS: Mapping[str, tuple[str, str]] = MappingProxyType({
    "suite": ("unmask.cli.gate_suite", "run_suite"),
    "run": ("unmask.cli.gate_run", "run_run"),
    "generate": ("unmask.cli.gate_generate", "run_generate"),
    "score": ("unmask.cli.gate_score", "run_score"),
    "decide": ("unmask.cli.gate_decide", "run_decide"),
    "plan": ("unmask.cli.gate_plan", "run_plan"),
    "compare": ("unmask.cli.gate_compare", "run_compare"),
    "review": ("unmask.cli.gate_review", "run_review"),
    "calibration": ("unmask.cli.gate_calibration", "run_calibration"),
    "finding": ("unmask.cli.gate_finding", "run_finding"),
    "job": ("unmask.cli.gate_job", "run_job"),
})  # fmt: skip
"""Where the function of each action is."""


def run_gate(args: argparse.Namespace, tools: Tools) -> int:
    """Run the action that ``args`` names; only its own module is imported."""
    module, name = ACTIONS[args.action]
    action: Callable[[argparse.Namespace, Tools], int] = getattr(import_module(module), name)
    return action(args, tools)
