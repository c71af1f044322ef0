"""Tuned exits as a table, and what would still be needed."""

from collections.abc import Iterator

from rich.table import Table

from unmask.tune.exit_figures import ExitFigures, exits_needed
from unmask.tune.exit_file import ExitSet
from unmask.tune.exits import TunedExit
from unmask.tune.shown import interval_text

ERRORS_TOLD = (0, 3)
"""Numbers of misjudged exits for which it is said how many exits that would take."""


def candidate_table(found: TunedExit) -> Table:
    """Return every setting that was tried for a task type, the chosen one marked."""
    table = Table(title=f"{found.task}, at most {found.ceiling} steps, tuning split", title_justify="left")
    for name in ("setting", "steps", "quality against the ceiling", "exits", "misjudged", "at most", "may be chosen"):
        table.add_column(name)
    for one in found.measured:
        figures = one.figures
        is_chosen = found.chosen == one.setting
        table.add_row(
            f"{one.setting.short} ← chosen" if is_chosen else one.setting.short,
            interval_text(figures.steps),
            interval_text(figures.quality, percent=True),
            *_misjudgement(figures, has_rule=one.setting.rule is not None),
            "yes" if one.is_eligible else "no",
        )
    return table


def exit_table(exits: ExitSet) -> Table:
    """Return what the one test of each task type's chosen setting says."""
    table = Table(title="tested once, calibration split", title_justify="left")
    for name in ("task", "setting", "saved steps", "quality", "exits", "misjudged", "at most", "reverse", "both wrong"):
        table.add_column(name)
    table.add_column("exit")
    for found in exits.tasks:
        state = "enabled" if found.exit.enabled else "observes"
        if found.tested is None or found.chosen is None:
            table.add_row(found.task, "none may be chosen", "", "", "", "", "", "", "", state)
            continue
        tested = found.tested
        table.add_row(
            found.task,
            found.chosen.short,
            f"{interval_text(tested.saved)} of {tested.reference_steps:.3g}",
            interval_text(tested.quality, percent=True),
            *_misjudgement(tested, has_rule=found.chosen.rule is not None),
            str(tested.reverse),
            str(tested.both_wrong),
            state,
        )
    return table


def needs(exits: ExitSet) -> Iterator[str]:
    """Say how many control runs that would exit it takes to show a misjudgement within the limit."""
    limit = exits.search.misjudgement_limit
    told = ", ".join(f"{exits_needed(errors, limit)} with {errors} misjudged" for errors in ERRORS_TOLD)
    yield f"would-exit controls needed per task type for a misjudgement of at most {limit:.2%}: {told}"
    for found in exits.tasks:
        if found.tested is not None and found.chosen is not None and found.chosen.rule is not None:
            tested = found.tested
            needed = exits_needed(tested.misjudged, limit)
            if tested.exits < needed:
                yield (
                    f"{found.task}: {tested.exits} exits were tested and {tested.misjudged} of them misjudged; "
                    f"{needed} would be needed"
                )


def _misjudgement(figures: ExitFigures, *, has_rule: bool) -> tuple[str, str, str]:
    if not has_rule:
        return "", "", ""
    return str(figures.exits), str(figures.misjudged), f"{figures.bound:.2%}"
