"""The grammar of ``unmask gate suite``."""

from pathlib import Path
from typing import TYPE_CHECKING

from unmask.cli.arguments import add_json, whole
from unmask.cli.gate_exits import add_gate_action
from unmask.cli.gate_generate_parser import SUITES

if TYPE_CHECKING:
    import argparse


def add_suite(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the action."""
    suite = add_gate_action(
        actions,
        "suite",
        "Check a suite of scenarios and count what is in it. With --generate, make one: worlds and scenarios of kinds "
        "that the embedded models were trained on, with names and phrasings that they were not.",
    )
    suite.add_argument("suite", nargs="?", metavar="SUITE", help=SUITES)
    suite.add_argument("--generate", action="store_true", help="make a suite")
    suite.add_argument("--seed", type=whole(0), default=0, metavar="N", help="of --generate (default 0)")
    suite.add_argument(
        "--worlds", type=whole(1), default=40, metavar="N", help="of --generate, 12 clusters each (default 40)"
    )
    suite.add_argument("--to", type=Path, metavar="FILE", help="write it there, and its worlds into a folder beside it")
    add_json(suite)
