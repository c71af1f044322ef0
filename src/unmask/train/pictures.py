"""Pictures of a run, drawn from its log: loss and accuracy over steps, canvases beside next tokens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from unmask.errors import CheckpointError
from unmask.train.log import LogEntry, TaskFigures

# Okabe and Ito's palette, its yellow darkened for white paper; markers tell the lines apart without colour too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999", "#7A5C00", "#332288")
MARKERS = "osD^vPX*h<"
SMOOTHED_FROM = 30
WINDOW = 9

Pick = Callable[[TaskFigures], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Picture:
    file: str
    title: str
    label: str
    canvas: Pick
    causal: Pick
    accuracy: bool


_PICTURES = (
    _Picture(
        file="loss.png",
        title="Loss",
        label="cross-entropy per token (nats)",
        canvas=lambda figures: figures.canvas_loss,
        causal=lambda figures: figures.causal_loss,
        accuracy=False,
    ),
    _Picture(
        file="accuracy.png",
        title="Accuracy",
        label="tokens predicted right (%)",
        canvas=lambda figures: 100.0 * figures.canvas_accuracy,
        causal=lambda figures: 100.0 * figures.causal_accuracy,
        accuracy=True,
    ),
)


def draw_pictures(entries: Sequence[LogEntry], folder: Path) -> tuple[Path, ...]:
    """Draw ``loss.png`` and ``accuracy.png`` into ``folder`` and return where they are.

    Raises:
        CheckpointError: a picture could not be written.
    """
    drawn = []
    for picture in _PICTURES:
        path = folder / picture.file
        try:
            _draw(picture, entries).savefig(path, dpi=150)
        except OSError as error:
            raise CheckpointError(f"cannot write the picture {str(path)!r}: {error}; free some space") from error
        drawn.append(path)
    return tuple(drawn)


def _draw(picture: _Picture, entries: Sequence[LogEntry]) -> Figure:
    figure = Figure(figsize=(10.5, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    for axes, heading, pick in (
        (left, "Canvases: masked tokens", picture.canvas),
        (right, "Autoregressive: next tokens", picture.causal),
    ):
        _plot(axes, entries, pick)
        axes.set_title(f"{picture.title} on training data. {heading}", fontsize=10, loc="left")
        axes.set_xlabel("optimiser steps")
        axes.grid(visible=True, color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        if picture.accuracy:
            axes.set_ylim(0.0, 101.0)
        else:
            axes.set_yscale("log")
            for ticks in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
                ticks(FuncFormatter(_plain_number))
    left.set_ylabel(picture.label)
    if len(entries) >= SMOOTHED_FROM:
        figure.text(0.99, 0.02, f"bold: mean of {WINDOW} lines of the log", ha="right", fontsize=7, color="#555555")
    handles, labels = left.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside right center", frameon=False, title="task type")
    return figure


def _plot(axes: Axes, entries: Sequence[LogEntry], pick: Pick) -> None:
    """Draw one line a task; a long log is drawn pale, with its running mean on top."""
    tasks = dict.fromkeys(figures.task for entry in entries for figures in entry.tasks)
    for index, task in enumerate(tasks):
        colour = COLOURS[index % len(COLOURS)]
        points = [(entry.step, pick(figures)) for entry in entries for figures in entry.tasks if figures.task == task]
        steps, values = (np.array(column, dtype=np.float64) for column in zip(*points, strict=True))
        if len(values) >= SMOOTHED_FROM:
            axes.plot(steps, values, color=colour, linewidth=0.7, alpha=0.25)
            values = _running_mean(values)
        axes.plot(
            steps,
            values,
            color=colour,
            linewidth=1.6,
            marker=MARKERS[index % len(MARKERS)],
            markersize=4.5,
            markevery=max(1, len(values) // 8),
            label=task,
        )


def _plain_number(value: float, _position: int | None) -> str:
    """Write 0.5 and 2 as they are, and leave out what would crowd the axis."""
    leading = f"{value:e}"[0]
    return f"{value:g}" if leading in "125" else ""


def _running_mean(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Average each value with its neighbours, fewer of them towards the ends."""
    half = WINDOW // 2
    return np.array([values[max(0, at - half) : at + half + 1].mean() for at in range(len(values))])
