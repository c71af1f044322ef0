"""``unmask bench policy``: a budget policy against fixed budgets, published rules and an oracle, in one run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from unmask.bench.bench import Bench
from unmask.bench.fixed_budgets import FixedBudgets
from unmask.bench.freed_steps import boosted, hardest_third
from unmask.bench.pace import Pace, Progress, Say
from unmask.bench.policy_figures import (
    BOOSTED,
    ESTIMATOR,
    KNEE,
    OURS,
    SATURATION,
    TYPE_SATURATION,
    arm_figures,
    grid_arm,
    grid_figures,
)
from unmask.bench.policy_items import drifted_items, look_items
from unmask.bench.policy_look import ArmRuns, KeptRunner, Look, distinct_trials, look_records, take_look
from unmask.bench.policy_sizes import Sizes, full_sizes, quick_sizes
from unmask.bench.policy_targets import judge
from unmask.bench.policy_tuning import Settled, settle
from unmask.bench.policy_under_test import Given, PolicyUnderTest
from unmask.bench.policy_wall import measure_walls
from unmask.bench.report import BenchReport, Figure
from unmask.bench.trial import Setup, TrialRunner
from unmask.bench.tuning_journal import JournalOf, open_tuning_journal
from unmask.tasks.item import Item

FROZEN, DRIFTED = "frozen", "drifted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What a run rests on.

    Attributes:
        under: the policy.
        folder: where the journal of tuning is.
        kept: landmarks of curves that were measured before, if there are any.
        look_seed: of the test items, by default the run's seed: a policy that was changed after a look is judged by
            items that no look has had.
    """

    under: PolicyUnderTest
    folder: Path
    kept: FixedBudgets | None = None
    look_seed: int | None = None


def run_policy_bench(
    bench: Bench,
    basis: Basis,
    *,
    seed: int,
    quick: bool,
    progress: Progress,
    say: Say,
    sizes: Sizes | None = None,
) -> BenchReport:
    """Settle everything on tuning items, then take one look at test items and judge the targets.

    Args:
        bench: what is measured.
        basis: the policy, opened for the bench's model, and where its tuning is.
        seed: of items, order and resampling.
        quick: whether few items are enough, as nothing is to be decided.
        progress: told of stages and shares.
        say: told what is expected and what was settled.
        sizes: by default those of a full or quick run.

    Raises:
        UnmaskError: the engine failed a run, or a file is damaged or cannot be written.
    """
    under, most = basis.under, basis.under.model.max_steps
    chosen = sizes or (quick_sizes(most) if quick else full_sizes(most))
    pace = Pace(bench.clock, progress, say)
    settled = settle(bench, under, chosen, folder=basis.folder, kept=basis.kept, seed=seed, pace=pace)
    say(_settled_text(settled))
    look_seed = seed if basis.look_seed is None else basis.look_seed
    of = JournalOf(model_digest=bench.model.digest, precision=bench.precision, seed=look_seed, is_look=True)
    with open_tuning_journal(basis.folder, of) as journal:
        runner = KeptRunner(TrialRunner(bench), journal)
        frozen = _Part(mixture=FROZEN, items=look_items(look_seed, settled.items), grid=chosen.grid)
        look = _look(bench, under, runner, frozen, settled, chosen, seed, pace)
        pace.stage("wall time", chosen.wall.runs + chosen.drifted * (len(look.arms) - len(chosen.grid)))
        walls = measure_walls(
            bench,
            look.items,
            look.given,
            Setup(max_steps=settled.budgets.saturation),
            chosen.wall,
            seed=seed,
            done=pace.done,
        )
        moved = _Part(mixture=DRIFTED, items=drifted_items(look_seed, chosen.drifted), grid=())
        drifted = _look(bench, under, runner, moved, settled, chosen, seed, pace)
    progress("figures", 1.0)
    judged = judge(look, walls, chosen.grid, seed)
    return bench.report(
        "policy",
        seed=seed,
        quick=quick,
        figures=(
            *judged.figures,
            *_figures(look, seed),
            *(figure for budget in chosen.grid for figure in grid_figures(look, grid_arm(budget), seed)),
            *_figures(drifted, seed, "drifted."),
            *_settled_figures(settled),
            Figure(name="look_seed", value=float(look_seed), note="of the test items"),
        ),
        must_reach=judged.must_reach,
        records=(*look_records(look), *look_records(drifted)),
        policy=under.active.digest,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A mixture, its items, and the fixed budgets that are run over them beside the arms."""

    mixture: str
    items: tuple[Item, ...]
    grid: tuple[int, ...]


def _look(
    bench: Bench,
    under: PolicyUnderTest,
    runner: KeptRunner,
    part: _Part,
    settled: Settled,
    sizes: Sizes,
    seed: int,
    pace: Pace,
) -> Look:
    given = tuple(under.give(item, bench.clock) for item in part.items)
    arms = arms_of(part.items, given, settled, part.grid, sizes.grid[-1])
    runs = distinct_trials(arms, len(part.items))
    after = sizes.wall.runs + sizes.drifted * (len(arms) - len(part.grid)) if part.grid else 0
    pace.stage(f"{part.mixture} mixture", runs + after)
    answered = take_look(runner, part.items, arms, seed=seed, done=pace.done)
    return Look(
        mixture=part.mixture,
        items=part.items,
        given=given,
        hardest=hardest_third(part.items, given),
        arms={name: _timed(arm, given) for name, arm in answered.items()},
    )


def _timed(arm: ArmRuns, given: Sequence[Given]) -> ArmRuns:
    """Add to the arms of the policy what estimating took before the engine had the request."""
    if arm.name not in {ESTIMATOR, OURS, BOOSTED}:
        return arm
    return replace(arm, seconds=arm.seconds + np.array([entry.seconds for entry in given]))


def arms_of(
    items: Sequence[Item], given: Sequence[Given], settled: Settled, grid: Sequence[int], most: int
) -> Mapping[str, Sequence[Setup]]:
    """Return what each arm does with each item; none of it depends on an answer."""
    budgets, factor = settled.budgets, settled.factor
    hardest = hardest_third(items, given)
    return {
        SATURATION: [Setup(max_steps=budgets.saturation)] * len(items),
        TYPE_SATURATION: [Setup(max_steps=budgets.type_saturation[item.task]) for item in items],
        KNEE: [Setup(max_steps=budgets.type_knee[item.task]) for item in items],
        ESTIMATOR: [entry.estimator for entry in given],
        OURS: [entry.ours for entry in given],
        BOOSTED: [
            boosted(entry, factor, most) if is_hard and factor is not None else entry.ours
            for entry, is_hard in zip(given, hardest, strict=True)
        ],
        **{str(choice.rule): [choice.setups[item.task] for item in items] for choice in settled.choices},
        **{grid_arm(budget): [Setup(max_steps=budget)] * len(items) for budget in grid},
    }


def _figures(look: Look, seed: int, prefix: str = "") -> list[Figure]:
    names = [name for name, arm in look.arms.items() if not _is_of_grid(name)]
    return [figure for name in names for figure in arm_figures(look, name, seed, prefix)]


def _is_of_grid(name: str) -> bool:
    return name.startswith("fixed_") and name.removeprefix("fixed_").isdecimal()


def _settled_text(settled: Settled) -> str:
    budgets = settled.budgets
    return (
        f"saturation {budgets.saturation} and knee {budgets.knee} of all task types ({budgets.source}); "
        f"{settled.discordance:.1%} of tuning items are right in one of ours and saturation and wrong in the other, "
        f"so that {settled.items} test items a task type are looked at"
    )


def _settled_figures(settled: Settled) -> list[Figure]:
    budgets = settled.budgets
    return [
        Figure(name="saturation_steps", value=budgets.saturation, note=budgets.source),
        Figure(name="knee_steps", value=budgets.knee),
        *(Figure(name=f"{task}.saturation_steps", value=steps) for task, steps in budgets.type_saturation.items()),
        *(Figure(name=f"{task}.knee_steps", value=steps) for task, steps in budgets.type_knee.items()),
        *(
            Figure(
                name=f"{choice.rule}.{task}.threshold",
                value=setup.strategy.threshold or 0.0,
                note=f"up to {setup.max_steps} steps, "
                + ("" if setup.strategy.window is None else f"in a window of {setup.strategy.window}, ")
                + f"of {choice.tried} settings"
                + ("" if choice.meets else "; none keeps the constraint on the tuning items"),
            )
            for choice in settled.choices
            for task, setup in choice.setups.items()
        ),
        Figure(name="pilot.discordance", value=settled.discordance),
        Figure(name="pilot.worst_type_discordance", value=settled.worst_type),
        Figure(
            name="freed_steps.factor",
            value=settled.factor or 0.0,
            note="" if settled.factor is not None else "nothing to give: ours takes as much as the knee",
        ),
    ]
