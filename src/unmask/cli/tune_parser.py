"""The grammar of ``unmask tune``."""

import argparse
from pathlib import Path

from unmask.cli.arguments import add_command, add_json, number, whole


def add_tune_parts(tune: argparse.ArgumentParser) -> None:
    """Add every part; each sets ``part``."""
    parts = tune.add_subparsers(dest="part", required=True, metavar="PART")
    _add_difficulty(parts)
    _add_classifier(parts)


def _add_difficulty(parts: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    difficulty = add_command(
        parts,
        "difficulty",
        "Train a difficulty estimator and find how far budgets may fall. Needs runs of items at every budget, each "
        "split in a file of its own; exits with 3 when no task type has enough of them.",
    )
    for split, use in (("tune", "trained on"), ("calibrate", "the shifts are found on"), ("test", "reported on")):
        difficulty.add_argument(
            f"--{split}", type=Path, required=True, metavar="FILE", help=f"runs of the {split} split: {use}"
        )
    difficulty.add_argument("--out", type=Path, required=True, metavar="FILE", help="where the estimator goes")
    difficulty.add_argument(
        "--alpha", type=number(0, 1), default=0.01, metavar="X", help="largest loss allowed (default 0.01)"
    )
    difficulty.add_argument(
        "--buckets", type=whole(1), nargs="+", metavar="N", help="steps of each bucket (default: the largest budgets)"
    )
    difficulty.add_argument(
        "--limits",
        action="append",
        default=[],
        metavar="TASK=FLOOR:CEILING",
        help="fewest and most steps of a task type (default: the budgets' ends)",
    )
    difficulty.add_argument("--seed", type=whole(0), default=0, metavar="N", help="of fitting (default 0)")
    add_json(difficulty)


def _add_classifier(parts: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    classifier = add_command(
        parts, "classifier", "Measure how often the task type of a prompt is told right, by kind of prompt."
    )
    classifier.add_argument(
        "--items", type=whole(10), default=1000, metavar="N", help="prompts of each kind (default 1000)"
    )
    classifier.add_argument("--out", type=Path, metavar="FILE", help="write the measured reliability")
    classifier.add_argument("--seed", type=whole(), default=0, metavar="N", help="of the prompts (default 0)")
    add_json(classifier)
