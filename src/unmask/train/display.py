"""Shows a run while it is trained: live on a terminal, a line now and then in a pipe."""

from types import TracebackType
from typing import Protocol, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from unmask.train.log import TaskFigures
from unmask.train.loop import Report


class Display(Protocol):
    """Told of every step between entering and leaving it."""

    def __enter__(self) -> Self:
        """Start showing."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop showing, however the run went."""
        ...

    def report(self, report: Report) -> None:
        """Show one step."""
        ...


def make_display(console: Console, name: str) -> Display:
    """Return the display that suits where ``console`` writes."""
    return LiveDisplay(console, name) if console.is_terminal and not console.is_dumb_terminal else LineDisplay(console)


def accuracy_table(figures: tuple[TaskFigures, ...]) -> Table:
    """Return per-task accuracy and loss as a table."""
    table = Table(box=None, pad_edge=False)
    table.add_column("task type")
    for heading in ("masked right", "loss", "next right", "loss"):
        table.add_column(heading, justify="right")
    for row in figures:
        table.add_row(
            row.task,
            f"[bold]{row.canvas_accuracy:.1%}[/bold]",
            f"{row.canvas_loss:.3f}",
            f"{row.causal_accuracy:.1%}",
            f"{row.causal_loss:.3f}",
        )
    return table


class LiveDisplay:
    """A progress bar above the latest per-task table, redrawn in place."""

    def __init__(self, console: Console, name: str) -> None:
        self._figures: tuple[TaskFigures, ...] = ()
        self._progress = Progress(
            TextColumn("training {task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("step {task.fields[step]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
        )
        self._bar = self._progress.add_task(name, total=1.0, step=0)
        self._live = Live(self._render(), console=console, refresh_per_second=2)

    def __enter__(self) -> Self:
        """Start drawing."""
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the last state on the screen."""
        self._live.stop()

    def report(self, report: Report) -> None:
        """Move the bar and, where there are new figures, change the table."""
        self._figures = report.figures or self._figures
        self._progress.update(self._bar, completed=report.fraction, step=report.progress.step)
        self._live.update(self._render())

    def _render(self) -> Group:
        return Group(self._progress, accuracy_table(self._figures)) if self._figures else Group(self._progress)


class LineDisplay:
    """One plain line for every line of the log."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def __enter__(self) -> Self:
        """Do nothing: there is nothing to prepare."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Do nothing: every line is out already."""

    def report(self, report: Report) -> None:
        """Print a line when there are figures."""
        if report.figures:
            tasks = "  ".join(f"{row.task} {row.canvas_accuracy:.1%}" for row in report.figures)
            done = f"step {report.progress.step}  {report.fraction:.1%}  {report.progress.seconds:.0f} s"
            self._console.print(f"{done}  masked right: {tasks}", soft_wrap=True, highlight=False, markup=False)
