"""The grammar of ``unmask gate decide``, ``plan`` and ``compare``."""

import argparse
from pathlib import Path

from unmask.cli.arguments import add_json, number, whole
from unmask.cli.gate_exits import add_gate_action, add_suite_of_run

GATE = "its YAML file, or `example`"


def add_decide(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the action."""
    decide = add_gate_action(
        actions,
        "decide",
        "Decide on a scored run: PASS when every row's whole interval clears its threshold, FAIL when one misses it, "
        "else INCONCLUSIVE. Each run of a system on a suite family is a look, and later looks ask for more.",
    )
    decide.add_argument("run", metavar="RUN", help="folder or URL of a scored run")
    add_suite_of_run(decide)
    add_deciding(decide)
    add_json(decide)


def add_deciding(parser: argparse.ArgumentParser) -> None:
    """Add what says how to decide and what to write; also for whatever asks, scores and goes on to decide."""
    parser.add_argument("--gate", required=True, metavar="FILE", help=GATE)
    parser.add_argument(
        "--exploratory",
        action="store_true",
        help="show verdicts that decide nothing, whatever was changed; exits with 2",
    )
    add_looks(parser)
    reports = parser.add_argument_group("reports")
    reports.add_argument("--html", type=Path, metavar="FILE", help="a page with every answer")
    reports.add_argument("--junit", type=Path, metavar="FILE", help="JUnit XML, a test case a row")
    reports.add_argument(
        "--skip-inconclusive", action="store_true", help="inconclusive rows are skipped in JUnit XML, not failures"
    )
    reports.add_argument("--markdown", type=Path, metavar="FILE", help="Markdown for a pull request")


def add_looks(parser: argparse.ArgumentParser) -> None:
    """Add where looks are on record."""
    parser.add_argument(
        "--looks",
        type=Path,
        metavar="DIR",
        help="folder of the log of looks (default unmask/gate in $XDG_STATE_HOME, else in ~/.local/state)",
    )


def add_plan(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the action."""
    plan = add_gate_action(
        actions,
        "plan",
        "Say how many clusters each row of a gate needs at the rates you expect, and its chance to pass with those "
        "there are. Nothing is run.",
    )
    plan.add_argument("gate", metavar="GATE", help=GATE)
    plan.add_argument(
        "--rates",
        nargs="+",
        default=[],
        metavar="FILE|ROW=RATE",
        help="what you expect of each row: its rate or mean, or for a percentile the share of answers within the limit;"
        " a YAML file of them or one after the other (default: a perfect system)",
    )
    plan.add_argument("--power", type=number(0.01, 0.999), default=0.8, metavar="X", help="chance to pass (default .8)")
    plan.add_argument("--clusters", type=whole(1), metavar="N", help="clusters that there are")
    plan.add_argument("--scenarios", type=whole(1), metavar="N", help="scenarios that there are (default --clusters)")
    plan.add_argument("--suite", metavar="SUITE", help="count both in a suite instead")
    plan.add_argument("--look", type=whole(0), default=0, metavar="K", help="earlier runs of the system (default 0)")
    add_json(plan)


def add_compare(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the action."""
    compare = add_gate_action(
        actions,
        "compare",
        "Split what changed between two runs into measurement and quality: the old answers scored anew against their "
        "old scores, and the new answers against the old ones under the same scoring.",
    )
    compare.add_argument("old", metavar="RUN1", help="folder or URL of the run before")
    compare.add_argument("new", metavar="RUN2", help="folder or URL of the run after, with its scores")
    compare.add_argument(
        "--rescored",
        metavar="RUN",
        help="a copy of RUN1 that was scored as RUN2 was; left out where the scoring did not change",
    )
    compare.add_argument("--gate", required=True, metavar="FILE", help=f"its rows are compared: {GATE}")
    compare.add_argument("--old-gate", metavar="FILE", help="the gate that was in force before (default --gate)")
    add_json(compare)
