"""Wall time under a policy against that at saturation, one request at a time and sixteen together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np
from numpy.typing import NDArray

from unmask.bench.arms import BASE, Alternative, make_arm
from unmask.bench.bench import Bench
from unmask.bench.policy_under_test import Given
from unmask.bench.trial import Setup, Trial, TrialRunner
from unmask.tasks.item import Item

Floats = NDArray[np.float64]
ALONE, TOGETHER = 1, BASE.max_rows
SATURATION, ESTIMATOR, OURS = "saturation", "estimator", "ours"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Walls:
    """Seconds a request, one value an item where each ran alone, else one a round.

    Attributes:
        batch: requests that ran together.
        saturation: with the one budget for all.
        ours: under the policy, with its share of control runs and with estimating.
        estimating: what of that was spent before the first step.
    """

    batch: int
    saturation: Floats
    ours: Floats
    estimating: Floats

    @property
    def saved(self) -> Floats:
        """What a request takes less under the policy, all it costs paid."""
        return self.saturation - self.ours


@dataclass(frozen=True, slots=True, kw_only=True)
class WallPlan:
    """How much is timed: items alone; then rounds, each of so many items together."""

    alone: int
    rounds: int
    round_items: int

    @property
    def runs(self) -> int:
        """Runs in all, both warm-ups included."""
        return 3 * (self.alone + self.rounds * self.round_items) + 2 * self.round_items


def measure_walls(
    bench: Bench,
    items: Sequence[Item],
    given: Sequence[Given],
    saturation: Setup,
    plan: WallPlan,
    *,
    seed: int,
    done: Callable[[int], None],
) -> tuple[Walls, Walls]:
    """Time saturation, ours and ours run on, taking turns in random order; too few items are taken again.

    Runs that are timed do not share a prefix cache. ``done`` is told how many more runs there are.
    """
    alone = Alternative(name="alone", precision=bench.precision, settings=replace(BASE, max_rows=ALONE))
    single = TrialRunner(bench, make_arm(alone, bench).core)
    walls = []
    for runner, batch, rounds, size in (
        (single, ALONE, plan.alone, 1),
        (TrialRunner(bench), TOGETHER, plan.rounds, plan.round_items),
    ):
        # The first forwards of an engine take longer than any after.
        runner.seconds([Trial(item=items[place % len(items)], setup=saturation) for place in range(plan.round_items)])
        done(plan.round_items)
        timed: list[tuple[float, float, float]] = []
        for number in range(rounds):
            chosen = [(number * size + at) % len(items) for at in range(size)]
            drawn, entries = [items[at] for at in chosen], [given[at] for at in chosen]
            timed.append(_round(runner, drawn, entries, saturation, f"{seed}/{number}"))
            done(3 * size)
        columns = np.array(timed, dtype=np.float64)
        walls.append(Walls(batch=batch, saturation=columns[:, 0], ours=columns[:, 1], estimating=columns[:, 2]))
    return walls[0], walls[1]


def _round(
    runner: TrialRunner, items: Sequence[Item], given: Sequence[Given], saturation: Setup, order: str
) -> tuple[float, float, float]:
    """Time the arms over the same items; seconds a request of saturation, ours, and estimating."""
    arms = {
        SATURATION: [saturation] * len(items),
        ESTIMATOR: [entry.estimator for entry in given],
        OURS: [entry.ours for entry in given],
    }
    names = list(arms)
    Random(f"wall/{order}").shuffle(names)
    seconds = {
        name: runner.seconds(
            [
                Trial(item=item, setup=setup, lane=f"{name}/{order}")
                for item, setup in zip(items, arms[name], strict=True)
            ]
        )
        / len(items)
        for name in names
    }
    control = float(np.mean([entry.control for entry in given]))
    estimating = float(np.mean([entry.seconds for entry in given]))
    ours = (1 - control) * seconds[OURS] + control * seconds[ESTIMATOR] + estimating
    return seconds[SATURATION], ours, estimating
