"""Options that choose an approximate cache."""

from typing import TYPE_CHECKING

from unmask.cli.arguments import whole
from unmask.types import ApproximateCache

if TYPE_CHECKING:
    import argparse


def add_approximate(parser: "argparse._ActionsContainer") -> None:
    """Add ``--approximate-cache`` and how often it is computed anew."""
    parser.add_argument(
        "--approximate-cache",
        choices=[cache.value for cache in ApproximateCache],
        help="keys and values that a checkpoint of LLaDA or Dream keeps from step to step (default off)",
    )
    parser.add_argument(
        "--approximate-cache-refresh",
        type=whole(1),
        metavar="N",
        help="steps after which they are computed anew (default: at the first step of each canvas alone)",
    )
