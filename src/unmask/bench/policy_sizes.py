"""How much the policy bench measures."""

from dataclasses import dataclass

from unmask.bench.policy_items import LEAST
from unmask.bench.policy_wall import WallPlan
from unmask.tasks.registry import all_tasks
from unmask.tune.settings import default_grid

OTHER_ARMS = 7
"""Runs that an item has beside those of the grid: the policy's arms, freed steps and the published rules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Numbers of a run.

    Attributes:
        tuning: tuning items a task type.
        test: test items a task type; ``None`` leaves it to the pilot.
        drifted: items of the drifted mixture in all.
        few: whether published rules are tried at two settings only.
        factors: how many shares of freed steps are tried.
        grid: fixed budgets, up to the most that a canvas may take.
    """

    tuning: int
    test: int | None
    drifted: int
    wall: WallPlan
    few: bool
    factors: int
    grid: tuple[int, ...]

    def later_runs(self, grid: int, items: int | None = None) -> int:
        """Return about how many runs come after tuning, with a grid of so many budgets and ``items`` test items."""
        count = items or (LEAST if self.test is None else self.test * len(all_tasks()))
        return count * (grid + OTHER_ARMS) + self.drifted * (OTHER_ARMS + 2) + self.wall.runs


def full_sizes(most: int) -> Sizes:
    """Return the sizes of a run that decides."""
    return Sizes(
        tuning=300,
        test=None,
        drifted=2000,
        wall=WallPlan(alone=240, rounds=20, round_items=96),
        few=False,
        factors=6,
        grid=default_grid(most),
    )


def quick_sizes(most: int) -> Sizes:
    """Return the sizes of a run that decides nothing and ends within a minute."""
    return Sizes(
        tuning=5,
        test=6,
        drifted=12,
        wall=WallPlan(alone=10, rounds=2, round_items=12),
        few=True,
        factors=2,
        grid=(*(step for step in (1, 4, 16) if step < most), most),
    )
