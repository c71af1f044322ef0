"""Intervals and landmarks as text, for tables and pictures."""

from typing import assert_never

from unmask.stats import Interval, IntervalResult, NotEnoughData
from unmask.tune.landmarks import Spread


def interval_text(result: IntervalResult, *, percent: bool = False, digits: int = 3) -> str:
    """Write an estimate with its interval, as percentages or to some significant digits; or how little there is."""
    match result:
        case Interval():
            parts = (result.estimate, result.low, result.high)
            value, low, high = (f"{part:.1%}" if percent else f"{part:.{digits}g}" for part in parts)
            return f"{value} ({low} – {high})"
        case NotEnoughData():
            return "not enough data"
        case _:
            assert_never(result)


def spread_text(value: int | None, spread: Spread) -> str:
    """Write a landmark with the middle 95 % of where resampling puts it; of none, how often there is none."""
    if value is None:
        return f"none ({1 - sum(spread.shares):.0%})"
    return f"{value} ({spread.low} – {spread.high})"


def interval_json(result: IntervalResult) -> dict[str, object]:
    """Return an interval as JSON: its ends, or why there is none."""
    match result:
        case Interval():
            return {"value": result.estimate, "low": result.low, "high": result.high}
        case NotEnoughData():
            return {"value": None, "low": None, "high": None, "n": result.n, "not_enough_data": result.reason}
        case _:
            assert_never(result)
