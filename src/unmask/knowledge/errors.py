"""What is wrong with a world's files."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from unmask.errors import ConfigError

MOST_SHOWN = 20
"""A message lists so many faults; the error holds them all."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Fault:
    """One thing that is wrong.

    Attributes:
        file: its path within the world's folder.
        line: from 1; of what is not there, the line of what should have it.
    """

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        """Return ``file:line: message``, which editors jump to."""
        return f"{self.file}:{self.line}: {self.message}"


class WorldError(ConfigError):
    """A world cannot be used; ``faults`` is everything that one reading found, by file and line."""

    is_list: ClassVar[bool] = True

    def __init__(self, folder: Path, faults: Iterable[Fault]) -> None:
        self.folder = folder
        self.faults = tuple(sorted(set(faults)))
        lines = [str(fault) for fault in self.faults[:MOST_SHOWN]]
        more = len(self.faults) - len(lines)
        if more:
            lines.append(f"and {more} more")
        super().__init__(f"{folder} is no world, {len(self.faults)} to mend:\n" + "\n".join(lines))
        self.args = (folder, self.faults)
