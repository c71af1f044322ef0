"""What is wrong with savings and their figures."""

from collections.abc import Iterable

from unmask.errors import ConfigError, shown


class UnknownSavingError(ConfigError):
    """No saving has this name."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__(f"{shown(name)} is no saving, allowed: {', '.join(known)}")


class SavingUnmeasuredError(ConfigError):
    """A saving is enabled whose quality nobody has measured."""

    def __init__(self, name: str, quality: str, command: str, *, place: str, param: str | None = None) -> None:
        super().__init__(
            f"{place} enables the saving {name}, whose quality is not known: there is no figure of its {quality}. "
            f"Leave it off, or measure it: {command}",
            param=param,
        )
        self.saving = name


class FigureError(ConfigError):
    """A figure of a saving, or the result it is to be taken from, is not what it has to be."""
