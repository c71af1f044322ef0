"""Shows a canvas while it denoises."""

import asyncio
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Protocol

from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from unmask.backend import CommitEvent, DraftPiece, PieceState, StepEvent
from unmask.cli.tools import Tools

PACE_S = 0.08
"""How long each step stays on a terminal; the engine does not wait for it."""
MASKED = "·"
COMMITTED_STYLE = "green"
FIXED_STYLE = "bold"
GUESSED_STYLE = "italic yellow"
MASKED_STYLE = "dim"
STYLES: Mapping[PieceState, str] = MappingProxyType(
    {PieceState.FIXED: FIXED_STYLE, PieceState.GUESSED: GUESSED_STYLE, PieceState.MASKED: MASKED_STYLE}
)
LEGEND = (
    f"[{COMMITTED_STYLE}]committed[/] [{FIXED_STYLE}]fixed[/] "
    f"[{GUESSED_STYLE}]guessed[/] [{MASKED_STYLE}]masked {MASKED}[/]"
)


class Watcher(Protocol):
    """Is told what happens, in order."""

    async def show(self, event: StepEvent | CommitEvent) -> None:
        """Show the canvas after a step, or that it was committed."""
        ...


class LiveWatcher:
    """Redraws one panel: committed text, then the canvas with fixed, guessed and masked tokens told apart."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._committed = ""
        self._title = ""

    async def show(self, event: StepEvent | CommitEvent) -> None:
        """Redraw the panel."""
        if isinstance(event, CommitEvent):
            self._committed += event.text
            self._draw(())
            return
        self._title = f"canvas {event.canvas + 1}, step {event.step} of {event.max_steps}"
        self._draw(event.pieces)
        await asyncio.sleep(PACE_S)

    def _draw(self, pieces: Iterable[DraftPiece]) -> None:
        text = Text(self._committed, style=COMMITTED_STYLE)
        for piece in pieces:
            text.append(shown(piece), STYLES[piece.state])
        self._live.update(Panel(text, title=self._title, subtitle=LEGEND), refresh=True)


class LineWatcher:
    """Writes one line a step, without styles: what is not fixed yet is a dot."""

    def __init__(self, tools: Tools, *, to_stderr: bool) -> None:
        self._write = tools.say if to_stderr else tools.write

    async def show(self, event: StepEvent | CommitEvent) -> None:
        """Write the line."""
        if isinstance(event, StepEvent):
            text = "".join(piece.text if piece.fixed else MASKED for piece in event.pieces)
            shown = text.replace("\n", "\\n")
            self._write(f"canvas {event.canvas + 1} step {event.step:>3}/{event.max_steps} | {shown}")


@contextmanager
def watcher_for(tools: Tools, *, plain: bool) -> Iterator[Watcher]:
    """Choose how to show: a panel on a terminal, else lines; with ``plain`` lines on stderr, for stdout is taken."""
    if plain or not tools.out.is_terminal or tools.out.no_color or os.environ.get("TERM") == "dumb":
        yield LineWatcher(tools, to_stderr=plain)
        return
    with Live(console=tools.out, auto_refresh=False) as live:
        yield LiveWatcher(live)


def shown(piece: DraftPiece) -> str:
    """Return a piece's text, or the mark of a mask."""
    return MASKED if piece.state is PieceState.MASKED else piece.text
