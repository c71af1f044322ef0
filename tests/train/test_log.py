"""The log of a run."""

import errno
from pathlib import Path

import pytest

from unmask.errors import CheckpointError
from unmask.train.log import LogEntry, TaskFigures, append_entry, read_log, rewind_log


def entry(step: int, loss: float = 1.5) -> LogEntry:
    """Return one line's worth of figures."""
    figures = TaskFigures(task="sort", canvas_loss=loss, canvas_accuracy=0.5, causal_loss=1.25, causal_accuracy=0.75)
    return LogEntry(step=step, seconds=float(step), tasks=(figures,))


def write(path: Path, *entries: LogEntry) -> None:
    """Append several lines."""
    for line in entries:
        append_entry(path, line)


def test_entries_come_back(tmp_path: Path) -> None:
    """What was logged is read as it was, one JSON line each."""
    path = tmp_path / "log.jsonl"
    write(path, entry(50), entry(100))
    assert read_log(path) == (entry(50), entry(100))
    assert path.read_text().splitlines()[0] == '{"step": 50, "seconds": 50, "tasks": [["sort", 1.5, 0.5, 1.25, 0.75]]}'


@pytest.mark.parametrize(
    "tail", ['{"step": 150, "sec', "[]", '{"step": 150}', '{"step": 1, "seconds": 1, "tasks": [[1]]}']
)
def test_a_line_that_is_not_whole_is_skipped(tail: str, tmp_path: Path) -> None:
    """What a power cut leaves behind does not cost the rest of the log."""
    path = tmp_path / "log.jsonl"
    write(path, entry(50), entry(100))
    path.write_text(path.read_text() + tail)
    assert read_log(path) == (entry(50), entry(100))


def test_a_task_without_tokens_has_no_figures(tmp_path: Path) -> None:
    """A row of zeros is a task that the steps did not hold, not one with a loss of zero."""
    path = tmp_path / "log.jsonl"
    path.write_text('{"step": 50, "seconds": 9, "tasks": [["sort", 1.5, 0.5, 1.25, 0.75], ["recall", 0, 0, 0, 0]]}\n')
    assert [row.task for row in read_log(path)[0].tasks] == ["sort"]


def test_steps_logged_again_count_once(tmp_path: Path) -> None:
    """After a resume from an older checkpoint the later lines stand."""
    path = tmp_path / "log.jsonl"
    write(path, entry(50), entry(100), entry(150), entry(100, loss=1.0), entry(150, loss=0.5))
    assert read_log(path) == (entry(50), entry(100, loss=1.0), entry(150, loss=0.5))


def test_rewinding_drops_what_will_be_logged_again(tmp_path: Path) -> None:
    """Lines up to the checkpoint stay, later ones go, and a log that is not there is no error."""
    path = tmp_path / "log.jsonl"
    rewind_log(path, 100)
    assert not path.exists()
    write(path, entry(50), entry(100), entry(150))
    rewind_log(path, 100)
    assert read_log(path) == (entry(50), entry(100))
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_a_checkpoint_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that cannot be written says what to do."""

    def fail(*_arguments: object, **_options: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "log.jsonl"
    write(path, entry(50))
    monkeypatch.setattr(Path, "open", fail)
    with pytest.raises(CheckpointError, match=r"No space left.*free some space"):
        append_entry(path, entry(100))
    monkeypatch.setattr(Path, "write_text", fail)
    monkeypatch.setattr(Path, "read_text", fail)
    with pytest.raises(CheckpointError, match=r"No space left.*free some space"):
        rewind_log(path, 50)
