"""Showing a run: live on a terminal, lines in a pipe."""

import re
from io import StringIO

from rich.console import Console

from unmask.train.checkpoint import Progress
from unmask.train.display import LineDisplay, LiveDisplay, accuracy_table, make_display
from unmask.train.log import TaskFigures
from unmask.train.loop import Report

FIGURES = (
    TaskFigures(task="sort", canvas_loss=0.25, canvas_accuracy=0.9, causal_loss=0.5, causal_accuracy=0.8),
    TaskFigures(task="latin", canvas_loss=1.25, canvas_accuracy=0.4, causal_loss=1.5, causal_accuracy=0.3),
)
ESCAPE = "\x1b"


def report(step: int, *, figures: bool = False) -> Report:
    """Return a report of one step in a hundred."""
    return Report(
        progress=Progress(step=step, seconds=float(step)), fraction=step / 100, figures=FIGURES if figures else ()
    )


def show(console: Console) -> None:
    """Show three steps, the second with figures."""
    with make_display(console, "tiny") as display:
        for step in (1, 2, 3):
            display.report(report(step, figures=step == 2))


def test_a_pipe_gets_plain_lines() -> None:
    """Not a terminal: a line for every line of the log, no control characters, whatever the width."""
    out = StringIO()
    console = Console(file=out, width=40)
    assert isinstance(make_display(console, "tiny"), LineDisplay)
    show(console)
    assert out.getvalue() == "step 2  2.0%  2 s  masked right: sort 90.0%  latin 40.0%\n"


def test_a_terminal_gets_a_bar_and_a_table() -> None:
    """A terminal: the bar names the model and the step, the table stays until there are newer figures."""
    out = StringIO()
    console = Console(file=out, force_terminal=True, width=100, color_system="truecolor", _environ={"TERM": "xterm"})
    assert isinstance(make_display(console, "tiny"), LiveDisplay)
    show(console)
    last = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", out.getvalue()).rsplit("training tiny", 1)[1]
    assert "3%" in last
    assert "step 3" in last
    assert re.search(r"sort +90\.0% +0\.250 +80\.0% +0\.500", last)


def test_no_colour_is_respected() -> None:
    """NO_COLOR leaves the bar and takes its colours."""
    out = StringIO()
    show(Console(file=out, force_terminal=True, width=100, _environ={"NO_COLOR": "1", "TERM": "xterm-256color"}))
    assert ESCAPE in out.getvalue()
    assert not re.search(r"\x1b\[[\d;]*(?:3[0-7]|9[0-7]|38;)[\d;]*m", out.getvalue())


def test_a_dumb_terminal_gets_plain_lines() -> None:
    """Where nothing can be redrawn, lines are printed."""
    console = Console(file=StringIO(), force_terminal=True, _environ={"TERM": "dumb"})
    assert isinstance(make_display(console, "tiny"), LineDisplay)


def test_the_table_has_a_row_for_every_task() -> None:
    """Accuracy and loss of canvases and next tokens, task by task."""
    assert accuracy_table(FIGURES).row_count == 2
