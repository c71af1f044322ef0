"""All that tuning items settle before the one look: fixed budgets, published rules, freed steps, and its size."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unmask.bench.bench import Bench
from unmask.bench.fixed_budgets import FixedBudgets, fixed_budgets
from unmask.bench.freed_steps import FACTORS, boosted, choose_factor, hardest_third
from unmask.bench.pace import Pace
from unmask.bench.policy_items import items_needed, tuning_items
from unmask.bench.policy_sizes import Sizes
from unmask.bench.policy_under_test import Given, PolicyUnderTest
from unmask.bench.published import RULES, Candidate, Choice, choose, label_of, settings_of
from unmask.bench.trial import Setup, TrialRunner
from unmask.bench.tuning_journal import JournalOf, Key, TuningJournal, open_tuning_journal
from unmask.bench.tuning_run import Tuned, Way, measure_ways, missing, tuned, uniform
from unmask.strategy import StrategyName
from unmask.tasks.item import Item
from unmask.tune.curve import Curve, curve_from
from unmask.tune.record import CurveRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What the tuning items decide.

    Attributes:
        factor: how many times their budget hard requests get of freed steps; ``None`` where there are none to give.
        discordance: share of tuning items right in one of ours and saturation and wrong in the other.
        worst_type: the largest such share of a task type.
        items: test items a task type.
    """

    budgets: FixedBudgets
    choices: tuple[Choice, ...]
    factor: float | None
    discordance: float
    worst_type: float
    items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tuning:
    """Tuning items with what the policy gives them, and the ways of answering that are compared."""

    items: tuple[Item, ...]
    given: tuple[Given, ...]
    policy: str
    grid: tuple[int, ...]
    rules: Mapping[StrategyName, tuple[Setup, ...]]
    factors: tuple[float, ...]
    most: int

    @property
    def hard(self) -> NDArray[np.bool_]:
        return hardest_third(self.items, self.given)

    def of(self, task: str) -> list[Item]:
        return [item for item in self.items if item.task == task]

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(item.task for item in self.items))

    def boost(self, factor: float) -> str:
        return f"policy {self.policy} times {factor:g}"

    @property
    def ways(self) -> list[Way]:
        fixed = [Setup(max_steps=budget) for budget in self.grid]
        alike = [*fixed, *(setup for setups in self.rules.values() for setup in setups)]
        each = list(zip(self.items, self.given, strict=True))
        hard = [pair for pair, is_hard in zip(each, self.hard, strict=True) if is_hard]
        return [
            *(uniform(label_of(setup), setup, self.items) for setup in alike),
            Way(label=ours(self.policy), setups={item.digest: given.ours for item, given in each}),
            Way(label=run_on(self.policy), setups={item.digest: given.estimator for item, given in each}),
            *(
                Way(
                    label=self.boost(factor),
                    setups={item.digest: boosted(given, factor, self.most) for item, given in hard},
                )
                for factor in self.factors
            ),
        ]


def ours(policy: str) -> str:
    """Name answers under a policy, for a journal."""
    return f"policy {policy}"


def run_on(policy: str) -> str:
    """Name answers under a policy without early exit."""
    return f"policy {policy} without exit"


def settle(
    bench: Bench,
    under: PolicyUnderTest,
    sizes: Sizes,
    *,
    folder: Path,
    kept: FixedBudgets | None,
    seed: int,
    pace: Pace,
) -> Settled:
    """Answer the tuning items in every way, as far as the folder's journal lacks the answers, and settle on them.

    ``kept`` are landmarks of curves that were measured before; without them the grid is measured here.

    Raises:
        TuningJournalError: the journal is damaged or cannot be written.
        UnmaskError: the engine failed a run.
    """
    tuning = _tuning(bench, under, sizes, kept, seed)
    of = JournalOf(model_digest=bench.model.digest, precision=bench.precision, seed=seed)
    with open_tuning_journal(folder, of) as journal:
        pace.stage("tuning", missing(journal, tuning.items, tuning.ways) + sizes.later_runs(len(sizes.grid)))
        measure_ways(TrialRunner(bench, shares_prefixes=True), journal, tuning.items, tuning.ways, pace.done)
        return _settled(tuning, journal, sizes, kept, seed)


def _tuning(bench: Bench, under: PolicyUnderTest, sizes: Sizes, kept: FixedBudgets | None, seed: int) -> _Tuning:
    items, most = tuning_items(seed, sizes.tuning), sizes.grid[-1]
    return _Tuning(
        items=items,
        given=tuple(under.give(item, bench.clock) for item in items),
        policy=under.active.digest,
        grid=sizes.grid if kept is None else tuple(sorted({kept.knee, kept.saturation})),
        rules={rule: settings_of(rule, most, few=sizes.few) for rule in RULES},
        factors=FACTORS[: sizes.factors],
        most=most,
    )


def _settled(tuning: _Tuning, journal: TuningJournal, sizes: Sizes, kept: FixedBudgets | None, seed: int) -> Settled:
    budgets = kept or fixed_budgets(
        [_curve(tuning, journal, task) for task in tuning.tasks],
        f"measured on {sizes.tuning} tuning items a task type",
    )
    saturation = _by_task(tuning, journal, label_of(Setup(max_steps=budgets.saturation)))
    mine = _by_task(tuning, journal, ours(tuning.policy))
    flips = {task: float((mine[task].correct != saturation[task].correct).mean()) for task in tuning.tasks}
    discordance, worst = float(np.mean(list(flips.values()))), max(flips.values())
    return Settled(
        budgets=budgets,
        choices=tuple(
            choose(
                rule,
                {
                    task: [
                        Candidate(setup=setup, answers=tuned(journal, tuning.of(task), label_of(setup)))
                        for setup in setups
                    ]
                    for task in tuning.tasks
                },
                saturation,
                seed,
            )
            for rule, setups in tuning.rules.items()
        ),
        factor=_factor(tuning, journal, budgets),
        discordance=discordance,
        worst_type=worst,
        items=sizes.test or items_needed(discordance, worst, len(tuning.tasks)),
    )


def _factor(tuning: _Tuning, journal: TuningJournal, budgets: FixedBudgets) -> float | None:
    """Choose how much hard requests get, so that all takes no more than the knee as a budget for everyone."""
    hard = [item for item, is_hard in zip(tuning.items, tuning.hard, strict=True) if is_hard]
    if not hard:
        return None
    control = np.array([given.control for given in tuning.given])
    exits, full = (tuned(journal, tuning.items, name(tuning.policy)).steps for name in (ours, run_on))
    return choose_factor(
        (1 - control) * exits + control * full,
        tuning.hard,
        {factor: tuned(journal, hard, tuning.boost(factor)).steps for factor in tuning.factors},
        float(tuned(journal, tuning.items, label_of(Setup(max_steps=budgets.knee))).steps.mean()),
    )


def _by_task(tuning: _Tuning, journal: TuningJournal, label: str) -> dict[str, Tuned]:
    return {task: tuned(journal, tuning.of(task), label) for task in tuning.tasks}


def _curve(tuning: _Tuning, journal: TuningJournal, task: str) -> Curve:
    items: Sequence[Item] = tuning.of(task)
    records = [_record(journal, item, budget) for item in items for budget in tuning.grid]
    return curve_from(task, tuning.grid, records, [item.digest for item in items])


def _record(journal: TuningJournal, item: Item, budget: int) -> CurveRecord:
    answer = journal[Key(item=item.digest, label=label_of(Setup(max_steps=budget)))]
    return CurveRecord(
        task=item.task,
        item=item.digest,
        difficulty=str(item.difficulty),
        budget=budget,
        steps=answer.steps,
        seconds=answer.seconds,
        correct=answer.correct,
    )
