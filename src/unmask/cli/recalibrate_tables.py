"""What ``unmask recalibrate`` shows."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from rich.table import Table

from unmask.policy.standing import SHORT
from unmask.stats import NotEnoughData
from unmask.stats.sequential import Watch
from unmask.tune.before_after import Comparison, comparison_rows
from unmask.tune.drift import MIN_REQUESTS
from unmask.tune.shown import interval_json, interval_text
from unmask.tune.traffic_check import RuleWatch, TrafficCheck

MOST_ROWS = 20
"""Features shown; those that have moved most come first."""


def check_table(found: TrafficCheck) -> Iterator[Table]:
    """Yield tables of the controls, of what has moved, and of exit rules."""
    controls = Table(
        title=f"policy {found.policy[:SHORT]}, promoted {found.promoted:%Y-%m-%d %H:%M}: {found.controls} controls",
        caption=f"at least {MIN_REQUESTS} on either side are needed",
    )
    for name in ("task", "reference", "recent", "tested"):
        controls.add_column(name)
    for entry in found.periods:
        controls.add_row(entry.task, str(entry.reference), str(entry.recent), "yes" if entry.is_enough else "no")
    yield controls
    if found.drift:
        drift = Table(title="has traffic moved", caption="permutation tests, p adjusted for their number (Holm)")
        for name in ("task", "feature", "before", "after", "distance", "p"):
            drift.add_column(name)
        for one in found.drift[:MOST_ROWS]:
            test = one.found
            mark = " moved" if test.has_drifted() else ""
            drift.add_row(
                one.task,
                test.feature,
                f"{test.before:.3g}",
                f"{test.after:.3g}",
                f"{test.distance:.3f}",
                f"{test.adjusted:.3g}{mark}",
            )
        yield drift
    if found.watches:
        rules = Table(title="are exits right", caption="misjudgement of all that would have exited; 95 % interval")
        for name in ("task", "misjudgement", "limit", "exits", "sequential test"):
            rules.add_column(name)
        for rule in found.watches:
            rules.add_row(rule.task, interval_text(rule.misjudgement, percent=True), *_watch_cells(rule))
        yield rules


def _watch_cells(rule: RuleWatch) -> tuple[str, str, str]:
    match rule.watch:
        case Watch() as watch:
            told = f"above its limit since exit {watch.alarm_at}" if watch.is_alarmed else "no alarm"
            return f"{watch.limit:.1%}", str(watch.n), told
        case NotEnoughData(n=n, reason=reason):
            return "", str(n), f"not enough data: {reason}"


def comparison_tables(comparisons: Sequence[Comparison]) -> Iterator[Table]:
    """Yield a table a task type, and one of all: the old policy against the new."""
    for found in comparisons:
        table = Table(title=f"{found.task}, {found.items} items", caption="95 % intervals; difference: new minus old")
        for name in ("", "before", "after", "difference"):
            table.add_column(name)
        for row in comparison_rows(found):
            table.add_row(*row)
        yield table


def check_json(found: TrafficCheck) -> dict[str, object]:
    """Return a check as JSON."""
    return {
        "due": found.due,
        "reasons": list(found.reasons),
        "policy": found.policy,
        "promoted": found.promoted.isoformat(),
        "controls": found.controls,
        "tasks": [{**asdict(entry), "tested": entry.is_enough} for entry in found.periods],
        "drift": [
            {"task": entry.task, **asdict(entry.found), "moved": entry.found.has_drifted()} for entry in found.drift
        ],
        "exits": [
            {
                "task": entry.task,
                "misjudgement": interval_json(entry.misjudgement),
                "test": {**asdict(entry.watch), "alarm": entry.watch.is_alarmed}
                if isinstance(entry.watch, Watch)
                else {"n": entry.watch.n, "not_enough_data": entry.watch.reason},
            }
            for entry in found.watches
        ],
    }
