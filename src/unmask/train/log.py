"""The log of a run: one JSON line every few steps, per-task figures of the steps since the line before."""

import json
from dataclasses import astuple, dataclass
from pathlib import Path

from unmask.errors import CheckpointError


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFigures:
    """Loss and accuracy per token of one task: masked tokens of canvases, and next tokens of the answer."""

    task: str
    canvas_loss: float
    canvas_accuracy: float
    causal_loss: float
    causal_accuracy: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One line of the log."""

    step: int
    seconds: float
    tasks: tuple[TaskFigures, ...]


def append_entry(path: Path, entry: LogEntry) -> None:
    """Append one line.

    Raises:
        CheckpointError: the disk is full, or the folder cannot be written.
    """
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(_line(entry))
    except OSError as error:
        raise CheckpointError(
            f"cannot write the log {str(path)!r}: {error}; free some space and go on with --resume"
        ) from error


def read_log(path: Path) -> tuple[LogEntry, ...]:
    """Read a log.

    A line that is not whole, as a power cut leaves it, is skipped; steps that
    were logged again after a resume stand as they were logged last.
    """
    entries: list[LogEntry] = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        entry = _parse(line)
        if entry is not None:
            while entries and entries[-1].step >= entry.step:
                entries.pop()
            entries.append(entry)
    return tuple(entries)


def rewind_log(path: Path, step: int) -> None:
    """Drop what was logged after ``step``: a run that goes on from a checkpoint logs those steps again.

    Raises:
        CheckpointError: the log cannot be read or written.
    """
    if not path.exists():
        return
    partial = path.with_suffix(".partial")
    try:
        kept = [_line(entry) for entry in read_log(path) if entry.step <= step]
        partial.write_text("".join(kept), encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise CheckpointError(f"cannot rewind the log {str(path)!r}: {error}; free some space and try again") from error


def _line(entry: LogEntry) -> str:
    tasks = [astuple(figures) for figures in entry.tasks]
    return json.dumps({"step": entry.step, "seconds": round(entry.seconds), "tasks": tasks}) + "\n"


def _parse(line: str) -> LogEntry | None:
    try:
        raw = json.loads(line)
        tasks = [_figures(*row) for row in raw["tasks"]]
        # No loss at all: there was no token of the task, which is no measurement.
        measured = tuple(figures for figures in tasks if figures.canvas_loss or figures.causal_loss)
        return LogEntry(step=int(raw["step"]), seconds=float(raw["seconds"]), tasks=measured)
    except (ValueError, TypeError, KeyError):
        return None


def _figures(
    task: str, canvas_loss: float, canvas_accuracy: float, causal_loss: float, causal_accuracy: float
) -> TaskFigures:
    return TaskFigures(
        task=task,
        canvas_loss=canvas_loss,
        canvas_accuracy=canvas_accuracy,
        causal_loss=causal_loss,
        causal_accuracy=causal_accuracy,
    )
