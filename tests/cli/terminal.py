"""Runs commands over a fake, and keeps what they write."""

import io
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from rich.console import Console

from unmask.backend import Backend
from unmask.cli.entry import run
from unmask.cli.tools import Tools, wall_clock
from unmask.config import Settings
from unmask.testing.fake_backend import FakeBackend


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str


def type_in(
    *argv: str,
    backend: Backend | None = None,
    make_backend: Callable[[Settings], Backend] | None = None,
    terminal: bool = False,
    now: Callable[[], datetime] = wall_clock,
) -> Ended:
    """Run a command line."""
    out = Console(file=io.StringIO(), force_terminal=terminal, width=100)
    err = Console(file=io.StringIO(), width=100)
    tools = Tools(out=out, err=err, make_backend=make_backend or (lambda _: backend or FakeBackend()), now=now)
    code = run(argv, lambda: tools)
    assert isinstance(out.file, io.StringIO)
    assert isinstance(err.file, io.StringIO)
    return Ended(code=code, out=out.file.getvalue(), err=err.file.getvalue())
