"""How far long work is: a bar on a terminal, a line each tenth elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from unmask.cli.tools import Tools

LINES = 10
"""Lines that tell of progress where nothing can be redrawn."""


@contextmanager
def progress_of(tools: Tools, work: str, did: str = "measured") -> Iterator[Callable[[int, int], None]]:
    """Yield what shows progress: a bar on a terminal, elsewhere a line each tenth that says how many it did."""
    if not tools.err.is_terminal or tools.err.is_dumb_terminal:
        yield _Lines(work, did, tools.say)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    left = (TextColumn("left"), TimeRemainingColumn(elapsed_when_finished=False))
    with Progress(*columns, *left, console=tools.err, transient=True, speed_estimate_period=120) as bar:
        task = bar.add_task(work)
        yield lambda done, total: bar.update(task, completed=done, total=total)


class _Lines:
    """Says how far a run is, each time another tenth is done."""

    def __init__(self, work: str, did: str, say: Callable[[str], None]) -> None:
        self._work = work
        self._did = did
        self._say = say
        self._said = 0

    def __call__(self, done: int, total: int) -> None:
        tenth = done * LINES // total
        if tenth > self._said:
            self._said = tenth
            self._say(f"{self._work}: {done} of {total} {self._did}")
