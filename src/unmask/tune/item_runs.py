"""What an estimator is tuned on: items of one split, each run at every budget of a grid.

They come from the curves of a run. What is known of an item before its first step is
not kept there; the item is drawn again from the run's settings, and its features are
taken as those of a request are.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from unmask.control.features import Features, features_of
from unmask.control.stored import CountTokens
from unmask.errors import UnmaskError
from unmask.strategy import StrategyChoice
from unmask.tasks.item import Item, Split
from unmask.tune.curve import Curve, CurveSet
from unmask.tune.errors import CurveFileError
from unmask.tune.items import draw_items
from unmask.tune.task_strategy import TaskStrategy, strategy_for


class RunsError(UnmaskError):
    """Runs of items do not fit together, or what they are for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How an item ended at one budget: whether its checker passed the answer, and the denoise steps taken in all."""

    budget: int
    correct: bool
    steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRuns:
    """An item, named by its digest, with its runs, the smallest budget first."""

    item: str
    features: Features
    runs: tuple[Run, ...]

    @property
    def task(self) -> str:
        """Its task type."""
        return self.features.task

    @property
    def budgets(self) -> tuple[int, ...]:
        """Budgets it was run at, ascending."""
        return tuple(run.budget for run in self.runs)

    def at(self, budget: int) -> Run:
        """Return the run at a budget; a budget it was not run at is a ``KeyError``."""
        return {run.budget: run for run in self.runs}[budget]

    def sufficient(self, ceiling: int) -> int | None:
        """Return the smallest budget that is right, as are all larger ones up to the ceiling; nothing if that fails."""
        within = [run for run in self.runs if run.budget <= ceiling]
        right = list(itertools.takewhile(lambda run: run.correct, reversed(within)))
        return right[-1].budget if right else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSet:
    """Items of one split, run on one model with one canvas length, all of them at the same budgets.

    Attributes:
        own: strategies of task types that were not run with ``strategy``.
    """

    model: str
    model_digest: str
    split: Split
    strategy: StrategyChoice
    canvas_length: int
    items: tuple[ItemRuns, ...]
    own: tuple[TaskStrategy, ...] = ()

    def strategy_of(self, task: str) -> StrategyChoice:
        """Return the strategy that a task type was run with."""
        return strategy_for(task, self.own, self.strategy)

    def of(self, task: str) -> tuple[ItemRuns, ...]:
        """Return the items of a task type."""
        return tuple(item for item in self.items if item.task == task)

    @property
    def tasks(self) -> tuple[str, ...]:
        """Task types, in the order of their first items."""
        return tuple(dict.fromkeys(item.task for item in self.items))


def runs_from(curves: CurveSet, count_tokens: CountTokens, max_tokens: int) -> RunSet:
    """Return the runs behind curves, each item with the features that a request for it has.

    Args:
        curves: of any split.
        count_tokens: how long a prompt is, as the server counts.
        max_tokens: of an answer whose request names none, as those of a curve run do not.

    Raises:
        CurveFileError: the items drawn again are not those that were measured.
        RunsError: they cannot be drawn again, as they are a user's own.
    """
    settings = curves.settings
    if settings.tasks_file is not None:
        raise RunsError(
            f"curves are of {', '.join(settings.tasks)}, task types of a user's own, allowed: those of the package, "
            "whose items can be drawn again. Task types of one's own have a fixed budget"
        )
    items: list[ItemRuns] = []
    for curve in curves.curves:
        drawn = draw_items(curve.task, settings.items, settings.seed, settings.split)
        if tuple(item.digest for item in drawn) != curve.items:
            raise CurveFileError(
                f"the curve of {curve.task} is of other items than {settings.items} of the split {settings.split} and "
                f"seed {settings.seed} are now: task types have changed since {curves.origin.date}; measure it anew"
            )
        items += _item_runs(curve, drawn, count_tokens, max_tokens)
    return RunSet(
        model=settings.model,
        model_digest=settings.model_digest,
        split=settings.split,
        strategy=settings.strategy,
        canvas_length=settings.canvas_length,
        items=tuple(items),
        own=settings.own,
    )


def item_features(item: Item, *, prompt_tokens: int, max_tokens: int) -> Features:
    """Return the features of a generated item, which asks for free text."""
    return features_of(item.messages, item.task, prompt_tokens=prompt_tokens, max_tokens=max_tokens)


def _item_runs(curve: Curve, drawn: Sequence[Item], count_tokens: CountTokens, max_tokens: int) -> list[ItemRuns]:
    return [
        ItemRuns(
            item=item.digest,
            features=item_features(item, prompt_tokens=count_tokens(item.messages), max_tokens=max_tokens),
            runs=tuple(
                Run(budget=budget, correct=bool(correct), steps=int(steps))
                for budget, correct, steps in zip(
                    curve.grid, curve.correct[:, place], curve.steps[:, place], strict=True
                )
            ),
        )
        for place, item in enumerate(drawn)
    ]
