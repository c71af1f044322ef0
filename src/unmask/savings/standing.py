"""Which savings may be used: those whose quality is known."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from unmask.savings.errors import SavingUnmeasuredError
from unmask.savings.figure import SavingFigure
from unmask.savings.figure_file import PACKAGED, read_figures
from unmask.savings.registry import SAVINGS, find_saving
from unmask.savings.saving import Saving

FOLDER = "savings"
"""Of the folder of state, where measurements of one's own are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A saving and its figure, where there is one.

    Attributes:
        enabled_by: settings and policies.
        suspended_for: task types for which it has switched itself off.
    """

    saving: Saving
    figure: SavingFigure | None
    enabled_by: tuple[str, ...] = ()
    suspended_for: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSavings:
    """What a server knows of savings: their figures, and by a saving's name the settings that enable it."""

    figures: tuple[SavingFigure, ...] = ()
    enabled: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))


def known_figures(state: Path) -> tuple[SavingFigure, ...]:
    """Return the figures that come with the package, one's own in the folder of state over them.

    Raises:
        FigureError: a file is damaged.
    """
    return read_figures((PACKAGED, state / FOLDER))


def require_quality(name: str, figures: Iterable[SavingFigure], *, place: str, param: str | None = None) -> None:
    """Refuse a saving whose quality nobody has measured.

    Args:
        name: of the saving.
        figures: what is known.
        place: what enables it, for the message.
        param: the setting, where it is one.

    Raises:
        UnknownSavingError: there is no such saving.
        SavingUnmeasuredError: it has no figure.
    """
    saving = find_saving(name)
    if not any(figure.saving == name for figure in figures):
        raise SavingUnmeasuredError(name, saving.quality, saving.command, place=place, param=param)


def standings(
    known: KnownSavings,
    *,
    by_policy: Mapping[str, tuple[str, ...]] | None = None,
    suspended: Mapping[str, tuple[str, ...]] | None = None,
) -> tuple[Standing, ...]:
    """Return every saving with its figure.

    Args:
        known: figures, and which settings enable which saving.
        by_policy: by a saving's name the policies that enable it.
        suspended: by a saving's name the task types that it has switched itself off for.
    """
    by_name = {figure.saving: figure for figure in known.figures}
    return tuple(
        Standing(
            saving=saving,
            figure=by_name.get(saving.name),
            enabled_by=known.enabled.get(saving.name, ()) + (by_policy or {}).get(saving.name, ()),
            suspended_for=(suspended or {}).get(saving.name, ()),
        )
        for saving in SAVINGS
    )
