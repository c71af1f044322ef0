"""Replays with every field filled in."""

from typing import Any

from unmask.policy.replay import Replay, ReplayedTask
from unmask.stats import Interval
from unmask.testing.budget_policies import signed


def make_replayed(task: str = "sort", **changes: Any) -> ReplayedTask:  # noqa: ANN401 - any field
    """Return a task type whose new rule misjudged nothing in just enough controls."""
    fields: dict[str, Any] = {
        "controls": 381,
        "old_misjudged": 0,
        "new_misjudged": 0,
        "misjudgement": Interval(estimate=0.0, low=-0.01, high=0.01),
        "steps": Interval(estimate=-2.0, low=-2.5, high=-1.5),
    }
    return ReplayedTask(task=task, **(fields | changes))


def make_replay(old: str, new: str, **changes: Any) -> Replay:  # noqa: ANN401 - any field
    """Return a replay of controls of the tenth hour."""
    fields: dict[str, Any] = {
        "records": "a" * 64,
        "first": signed("x", 10).time,
        "last": signed("x", 11).time,
        "tasks": (make_replayed(),),
    }
    return Replay(old=old, new=new, **(fields | changes))
