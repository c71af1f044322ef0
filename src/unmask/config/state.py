"""Where the package keeps what it remembers, unless told otherwise."""

from collections.abc import Mapping
from pathlib import Path


def state_folder(environ: Mapping[str, str]) -> Path:
    """Return the package's folder of state, in the words of the XDG base directory specification 0.8.

    Raises:
        RuntimeError: there is no home folder.
    """
    state = Path(environ.get("XDG_STATE_HOME", ""))
    # The specification has relative paths ignored.
    return (state if state.is_absolute() else Path.home() / ".local" / "state") / "unmask"
