"""Which savings may be used: those whose quality is known."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from unmask.savings.errors import SavingUnmeasuredError
from unmask.savings.figure import SavingFigure
from unmask.savings.figure_file import PACKAGED, read_figures
from unmask.savings.registry import SAVINGS, find_saving
from unmask.savings.saving import Saving

FOLDER = "savings"
"""Of the folder of state, where measurements of one's own are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A saving, its figure where there is one, and who enables it: paths of settings, names of policies."""

    saving: Saving
    figure: SavingFigure | None
    enabled_by: tuple[str, ...] = ()


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


def standings(figures: Iterable[SavingFigure], enabled: Mapping[str, tuple[str, ...]]) -> tuple[Standing, ...]:
    """Return every saving with its figure and with who enables it.

    Args:
        figures: what is known.
        enabled: by a saving's name what enables it.
    """
    by_name = {figure.saving: figure for figure in figures}
    return tuple(
        Standing(saving=saving, figure=by_name.get(saving.name), enabled_by=enabled.get(saving.name, ()))
        for saving in SAVINGS
    )
