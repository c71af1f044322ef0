"""The items of the policy bench: those that are tuned on, those that are looked at, and a mixture that has drifted."""

import math
from collections.abc import Sequence
from random import Random

from unmask.tasks.item import Item, Split
from unmask.tasks.registry import all_tasks
from unmask.tasks.spec import load_spec
from unmask.tune.items import draw_items

MARGIN = 0.01
"""Points of quality that the bench is to tell in all, ``TYPE_MARGIN`` in each task type."""
TYPE_MARGIN = 0.03
LEAST = 6_000
MOST = 24_000
"""Items of a full run, whatever the pilot says."""
# (1.960 + 0.842)^2: an error of 5 % on both sides together, and a power of 80 %.
_FACTOR = 7.85


def tuning_items(seed: int, count: int) -> tuple[Item, ...]:
    """Draw ``count`` tuning items a task type; types take turns."""
    return _in_turns([draw_items(task, count, seed, Split.TUNE) for task in all_tasks()])


def look_items(seed: int, count: int) -> tuple[Item, ...]:
    """Draw ``count`` test items a task type; types take turns."""
    return _in_turns([draw_items(task, count, seed, Split.TEST) for task in all_tasks()])


def drifted_items(seed: int, count: int) -> tuple[Item, ...]:
    """Draw ``count`` test items in all of a mixture that no policy was made for.

    The shares of task types are those of the frozen mixture turned around, so that what was rare is frequent, and of
    two items drawn the one further out on its difficulty axes is taken.
    """
    mixture = load_spec().mixture
    turned = dict(zip(mixture.values, sorted_against(mixture.weights), strict=True))
    rng, tasks = Random(f"drifted/{seed}"), all_tasks()
    items: dict[str, Item] = {}
    while len(items) < count:
        task = tasks[rng.choices(list(turned), list(turned.values()))[0]]
        item = max((task.generate(rng, Split.TEST) for _ in range(2)), key=_far_out)
        items.setdefault(item.canonical, item)
    return tuple(items.values())


def sorted_against(weights: Sequence[float]) -> list[float]:
    """Return the same weights, the largest where the smallest was."""
    ranks = sorted(range(len(weights)), key=lambda place: weights[place])
    turned = [0.0] * len(weights)
    for place, weight in zip(ranks, sorted(weights, reverse=True), strict=True):
        turned[place] = weight
    return turned


def items_needed(discordance: float, worst_type: float, types: int) -> int:
    """Return the items a task type that tell the margins with 80 % power.

    Args:
        discordance: share of pilot items that are right in one of two arms and wrong in the other.
        worst_type: the largest such share of a task type.
        types: how many task types there are.
    """
    overall = _FACTOR * discordance / MARGIN**2
    single = types * _FACTOR * worst_type / TYPE_MARGIN**2
    return math.ceil(min(max(overall, single, LEAST), MOST) / types)


def _far_out(item: Item) -> tuple[int, ...]:
    return tuple(value for _, value in item.difficulty.axes)


def _in_turns(drawn: Sequence[Sequence[Item]]) -> tuple[Item, ...]:
    return tuple(item for together in zip(*drawn, strict=True) for item in together)
