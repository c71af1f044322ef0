"""Builds what budgets are given by."""

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from unmask.control.book import RecordBook
from unmask.control.parts import ControlParts
from unmask.control.records import RecordFolder
from unmask.errors import ConfigError


def record_folder(environ: Mapping[str, str]) -> Path:
    """Return where records of control runs are kept: in the user's folder of state (XDG Base Directory 0.8)."""
    # By the standard a relative path there is to be ignored.
    state = Path(environ.get("XDG_STATE_HOME", ""))
    return (state if state.is_absolute() else Path.home() / ".local" / "state") / "unmask" / "controls"


def control_parts(folder: Path, draw_seed: Callable[[], int]) -> ControlParts:
    """Return what a server has: records in a folder, and no policy, as none is approved.

    Raises:
        ConfigError: the folder is there and cannot be read.
    """
    try:
        book = RecordBook(RecordFolder(folder))
    except OSError as error:
        raise ConfigError(f"records of control runs cannot be read from {folder}: {error.strerror}") from error
    return ControlParts(book=book, draw=Random(draw_seed()).random)
