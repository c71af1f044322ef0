"""What the grammars of commands are made of."""

import argparse
from collections.abc import Callable
from typing import Any

from unmask.cli.exits import EXPLAINED

LEAST = -(1 << 63)
LARGEST = (1 << 63) - 1
"""Whole numbers fit into 64 bits, as JSON and the engine hold them."""
MOST_DIGITS = 100
"""Zeros in front included."""


class Parser(argparse.ArgumentParser):
    """A parser that shows its own usage to whoever writes an option that it does not have, not that of all commands."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:  # noqa: ANN401 - as in argparse
        """Parse, and end with the usage where something is left over."""
        found, rest = super().parse_known_args(args, namespace)
        if rest:
            self.error(f"unrecognized arguments: {' '.join(rest)}")
        return found, rest


def add_command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    description: str,
    *,
    until: str = ". ",
    add_help: bool = True,
) -> argparse.ArgumentParser:
    """Add a command whose help is its description up to ``until``: the first sentence, unless told otherwise."""
    return commands.add_parser(
        name,
        help=description.split(until, maxsplit=1)[0].rstrip("."),
        description=description,
        epilog=EXPLAINED,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=add_help,
    )


def add_json(parser: "argparse._ActionsContainer") -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help="write one JSON object to stdout and nothing else")


def whole(low: int = LEAST) -> Callable[[str], int]:
    """Return a parser of whole numbers from ``low`` to `LARGEST`."""

    def parse(text: str) -> int:
        is_whole = text.isascii() and text.removeprefix("-").isdecimal()
        # Python itself refuses to read numbers of thousands of digits.
        if not is_whole or len(text) > MOST_DIGITS or not low <= int(text) <= LARGEST:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {low} to {LARGEST}")
        return int(text)

    return parse


def budgets(text: str) -> tuple[int, ...]:
    """Parse budgets apart by commas; whether they fit the model is for whoever knows it."""
    return tuple(map(whole(1), text.split(",")))


def number(low: float, high: float = float("inf")) -> Callable[[str], float]:
    """Return a parser of finite numbers from ``low`` to ``high``."""

    def parse(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if not low <= number <= high or number == float("inf"):
            upto = "" if high == float("inf") else f" and at most {high:g}"
            raise argparse.ArgumentTypeError(f"{text!r} is not a number, at least {low:g}{upto}")
        return number

    return parse
