"""The pictures of a run."""

import errno
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

from unmask.errors import CheckpointError
from unmask.train.lessons import task_order
from unmask.train.log import LogEntry, TaskFigures
from unmask.train.pictures import COLOURS, MARKERS, draw_pictures


def log(count: int) -> tuple[LogEntry, ...]:
    """Return a log of every task getting better."""
    return tuple(
        LogEntry(
            step=50 * (line + 1),
            seconds=60.0 * line,
            tasks=tuple(
                TaskFigures(
                    task=task,
                    canvas_loss=6.0 / (1 + line),
                    canvas_accuracy=line / count,
                    causal_loss=5.0 / (1 + line),
                    causal_accuracy=line / count,
                )
                for task in task_order()
            ),
        )
        for line in range(count)
    )


@pytest.mark.parametrize("count", [0, 1, 40])
def test_two_pictures_are_drawn(count: int, tmp_path: Path) -> None:
    """Loss and accuracy are drawn of a log of any length, an empty one included."""
    paths = draw_pictures(log(count), tmp_path)
    assert paths == (tmp_path / "loss.png", tmp_path / "accuracy.png")
    for path in paths:
        height, width, _ = imread(path).shape
        assert width > 1200
        assert height > 500


def test_pictures_are_labelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both panels say what they show, axes have names, the legend lists every task."""
    figures: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_arguments, **_options: figures.append(figure))
    draw_pictures(log(40), tmp_path)
    for figure in figures:
        left, right = figure.axes
        assert "Canvases" in left.get_title(loc="left")
        assert "Autoregressive" in right.get_title(loc="left")
        assert left.get_xlabel() == right.get_xlabel() == "optimiser steps"
        assert left.get_ylabel()
        (legend,) = figure.legends
        assert [text.get_text() for text in legend.get_texts()] == list(task_order())


def test_every_task_has_its_own_colour_and_marker() -> None:
    """Lines are told apart by colour and, where colours are not seen, by marker."""
    assert len(set(COLOURS)) == len(set(MARKERS)) == len(task_order())


def test_a_full_disk_is_a_checkpoint_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture that cannot be written is named."""

    def fail(*_arguments: object, **_options: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(CheckpointError, match=r"loss\.png.*No space left"):
        draw_pictures(log(2), tmp_path)
