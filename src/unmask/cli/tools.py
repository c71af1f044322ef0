"""What commands write to and build from, as arguments."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import orjson
from rich.console import Console

from unmask.backend import Backend
from unmask.config import Settings


def wall_clock() -> datetime:
    """Return the time of day, for what is dated; differences are taken with a `unmask.clock.Clock`."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """Results go to ``out``, all else to ``err``; ``now`` dates what is signed."""

    out: Console
    err: Console
    make_backend: Callable[[Settings], Backend]
    now: Callable[[], datetime] = wall_clock

    def write(self, text: str) -> None:
        """Write a line of a result exactly as it is."""
        self.out.file.write(f"{text}\n")
        self.out.file.flush()

    def write_json(self, value: dict[str, object]) -> None:
        """Write the one JSON object of a command."""
        self.write(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())

    def say(self, text: str) -> None:
        """Tell the person at the terminal something, whole and unstyled."""
        self.err.print(text, highlight=False, markup=False, soft_wrap=True)


def system_tools() -> Tools:
    """Return the process's own streams and our own engine; colours only on a terminal, and none under NO_COLOR."""
    from unmask.app.local import chosen_backend

    return Tools(out=Console(), err=Console(stderr=True), make_backend=chosen_backend)
