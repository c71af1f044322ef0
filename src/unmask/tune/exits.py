"""Finds a task type's strategy and exit rule: the fewest steps at the same quality, then one test on other items.

On the tuning split strategies are measured first: of each family the lowest threshold that keeps the quality is found
by halving, as if quality rose with it. Then exit rules are measured on the two best, at most `MOST_CANDIDATES` settings
in all. One is chosen: of those whose quality is surely within half the limit of the reference's, and whose rule
surely misjudges no more than allowed, the one with the fewest mean steps. It is measured once on the calibration
split, and what holds there decides: the rule stops requests only where the bound of its misjudgement is within the
limit, and the strategy is taken only where its quality surely is. Otherwise the task type keeps the reference and a
careful rule that observes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from unmask.policy.policy import ExitPolicy
from unmask.strategy import FinalityModel, StrategyChoice
from unmask.tasks.item import Item, Split
from unmask.tune.exit_figures import ExitFigures, figures_of, least
from unmask.tune.exit_learned import fit_exit
from unmask.tune.exit_measure import measure_setting
from unmask.tune.exit_rules import (
    LEARNED_THRESHOLD,
    MOST_CANDIDATES,
    REFERENCE,
    Setting,
    careful_rule,
    families,
    with_rules,
)
from unmask.tune.exit_runs import ExitRunner
from unmask.tune.items import draw_items
from unmask.tune.task_strategy import strategy_name

BEST = 2
"""Strategies that exit rules are tried on."""
CAUTION = 0.5
"""Share of the quality limit that tuning items may use up: the best of many settings looks better than it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitSearch:
    """What a search goes by.

    Attributes:
        items: tuning items a task type; ``calibrate_items`` those of the one test.
        misjudgement_limit: largest upper bound of the misjudged share of exits.
        quality_limit: how far quality may be below the reference's on calibration items, at the lower end of its
            interval; on tuning items half as far.
    """

    items: int
    calibrate_items: int
    seed: int
    misjudgement_limit: float
    quality_limit: float
    finality: FinalityModel | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredSetting:
    """A setting with its figures on the tuning split, and whether it might be chosen."""

    setting: Setting
    figures: ExitFigures
    is_eligible: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedExit:
    """What was found for a task type.

    Attributes:
        ceiling: most steps of a canvas, in all runs.
        measured: all settings that were tried.
        chosen: the one that was tested; ``None`` where none was eligible and below the reference's steps.
        tested: its figures on the calibration split.
        strategy: what its policy gets, the reference where the chosen one does not hold.
        exit: the same of the exit rule.
    """

    task: str
    ceiling: int
    measured: tuple[MeasuredSetting, ...]
    chosen: Setting | None
    tested: ExitFigures | None
    strategy: StrategyChoice
    exit: ExitPolicy


async def tune_exit(
    runner: ExitRunner, task: str, ceiling: int, search: ExitSearch, say: Callable[[str], None]
) -> TunedExit:
    """Search and test one task type.

    Raises:
        ExitRunError: the backend failed a request, or runs cannot be kept.
        InvalidRequestError: a split has too few different items.
    """
    items = draw_items(task, search.items, search.seed)
    measured: list[MeasuredSetting] = []
    for family in families(search.finality):
        low, high = 0, len(family)
        while low < high:
            middle = (low + high) // 2
            found = await _measured(runner, items, ceiling, Setting(strategy=family[middle]), search, say)
            low, high = (low, middle) if found.is_eligible else (middle + 1, high)
            measured.append(found)
    best = [found.setting.strategy for found in sorted(measured, key=_order)[:BEST]]
    learned = {
        strategy_name(choice): fit_exit(items, await runner.run(items, ceiling, choice), LEARNED_THRESHOLD)
        for choice in best
    }
    settings = with_rules(best, learned, ceiling, MOST_CANDIDATES - len(measured))
    measured += [await _measured(runner, items, ceiling, setting, search, say) for setting in settings]
    chosen = choose(measured)
    tested = None
    if chosen is not None:
        held_out = draw_items(task, search.calibrate_items, search.seed, Split.CALIBRATE)
        tested = figures_of(await measure_setting(runner, held_out, ceiling, chosen), search.seed)
    return TunedExit(
        task=task,
        ceiling=ceiling,
        measured=tuple(measured),
        chosen=chosen,
        tested=tested,
        strategy=strategy_of(chosen, tested, search),
        exit=exit_of(chosen, tested, search, ceiling),
    )


def choose(measured: Sequence[MeasuredSetting]) -> Setting | None:
    """Return the eligible setting of the fewest mean steps, if that is fewer than the reference's."""
    found = [one for one in measured if one.is_eligible and one.figures.mean_steps < one.figures.reference_steps]
    return min(found, key=lambda one: one.figures.mean_steps).setting if found else None


def strategy_of(chosen: Setting | None, tested: ExitFigures | None, search: ExitSearch) -> StrategyChoice:
    """Return the strategy that a test bears out, else the reference."""
    is_borne_out = tested is not None and least(tested.strategy_quality) >= -search.quality_limit
    return chosen.strategy if chosen is not None and is_borne_out else REFERENCE


def exit_of(chosen: Setting | None, tested: ExitFigures | None, search: ExitSearch, ceiling: int) -> ExitPolicy:
    """Return the exit that a test bears out; one that it does not observes."""
    limit = search.misjudgement_limit
    off = ExitPolicy(rule=careful_rule(ceiling), enabled=False, misjudgement_limit=limit)
    if chosen is None or tested is None or chosen.rule is None:
        return off
    if strategy_of(chosen, tested, search) != chosen.strategy:
        return off
    is_borne_out = tested.bound <= limit and least(tested.quality) >= -search.quality_limit
    return replace(off, rule=chosen.rule, enabled=is_borne_out)


async def _measured(
    runner: ExitRunner,
    items: Sequence[Item],
    ceiling: int,
    setting: Setting,
    search: ExitSearch,
    say: Callable[[str], None],
) -> MeasuredSetting:
    figures = figures_of(await measure_setting(runner, items, ceiling, setting), search.seed)
    is_eligible = least(figures.quality) >= -search.quality_limit * CAUTION and (
        setting.rule is None or figures.bound <= search.misjudgement_limit
    )
    task = items[0].task
    say(
        f"{task}: {setting.short}: {figures.mean_steps:.2f} of {figures.reference_steps:.2f} steps, lost {figures.lost}"
    )
    return MeasuredSetting(setting=setting, figures=figures, is_eligible=is_eligible)


def _order(found: MeasuredSetting) -> tuple[bool, float]:
    """Eligible ones first, by steps; where none is, those that lose least."""
    figures = found.figures
    return (not found.is_eligible, figures.mean_steps if found.is_eligible else -least(figures.quality))
