"""Numbers as they are written on a command line."""

import argparse
from collections.abc import Callable

LEAST = -(1 << 63)
LARGEST = (1 << 63) - 1
"""Whole numbers fit into 64 bits, as JSON and the engine hold them."""
MOST_DIGITS = 100
"""Zeros in front included."""


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
            found = float(text)
        except ValueError:
            found = float("nan")
        if not low <= found <= high or found == float("inf"):
            upto = "" if high == float("inf") else f" and at most {high:g}"
            raise argparse.ArgumentTypeError(f"{text!r} is not a number, at least {low:g}{upto}")
        return found

    return parse
