"""The grammar of ``unmask gate score``."""

import argparse
from pathlib import Path

from unmask.cli.arguments import add_json, whole
from unmask.cli.gate_exits import add_gate_action, add_suite_of_run


def add_score(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the action."""
    score = add_gate_action(
        actions,
        "score",
        "Score the answers of a run, by code and by judges if there are any. Answers are not changed; scoring again "
        "asks judges for nothing that they have already been asked.",
    )
    score.add_argument("run", metavar="RUN", help="folder or URL of a run")
    add_suite_of_run(score)
    add_scoring(score)
    add_json(score)


def add_scoring(parser: argparse.ArgumentParser) -> None:
    """Add what says how answers are scored; also for whatever asks and goes on to score."""
    parser.add_argument("--judge", type=Path, metavar="FILE", help="judges and rubric, in YAML (default: code alone)")
    parser.add_argument(
        "--k", type=whole(1), metavar="N", help="votes of each judge on an answer (default: the judge file's, or 3)"
    )
    parser.add_argument(
        "--known-wrong",
        type=whole(1),
        metavar="N",
        help="also try the scorer on up to N answers a metric that were made wrong on purpose",
    )
