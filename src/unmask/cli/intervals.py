"""Intervals as commands show them."""

from unmask.stats import Interval, IntervalResult, NotEnoughData


def shown(result: IntervalResult, scale: float = 1.0, unit: str = "") -> str:
    """Write an estimate with its interval."""
    match result:
        case NotEnoughData():
            return "not enough data"
        case Interval():
            return f"{result.estimate * scale:.2f}{unit} ({result.low * scale:.2f} to {result.high * scale:.2f})"


def interval_record(result: IntervalResult) -> dict[str, object]:
    """Return an interval as JSON, or why there is none."""
    match result:
        case NotEnoughData(n=n, reason=reason):
            return {"n": n, "not_enough_data": reason}
        case Interval():
            return {"estimate": result.estimate, "low": result.low, "high": result.high}
