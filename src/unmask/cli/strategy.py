"""The options that choose a strategy."""

import argparse

from unmask.cli.arguments import number, whole
from unmask.strategy import NAMED_STRATEGIES, StrategyChoice, StrategyName


def add_strategy(parser: "argparse._ActionsContainer", default: str = "") -> None:
    """Add ``--strategy``, ``--threshold`` and ``--window``; ``default`` says what holds without, in brackets."""
    parser.add_argument(
        "--strategy",
        choices=[name.value for name in NAMED_STRATEGIES],
        help=f"which positions a step reveals{default and f' ({default})'}",
    )
    parser.add_argument("--threshold", type=number(0), metavar="X", help="the strategy's threshold")
    parser.add_argument("--window", type=whole(1), metavar="N", help="open positions that it chooses among")


def strategy_of(args: argparse.Namespace) -> StrategyChoice:
    """Return the strategy that options name."""
    name = StrategyChoice().name if args.strategy is None else StrategyName(args.strategy)
    return StrategyChoice(name=name, threshold=args.threshold, window=args.window)
