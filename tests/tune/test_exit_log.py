"""Behaviour of `unmask.tune.exit_log`."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.tune.traced import ASKING
from unmask.tune.errors import ExitFileError, ExitRunError
from unmask.tune.exit_log import ExitLog
from unmask.tune.exit_runs import ExitRun, KeptStep, RunKey

STEP = KeptStep(canvas=0, step=1, done=False, filled=2, values=(None, *(0.5,) * 7), data="c3", ends=False)
RUN = ExitRun(
    key=RunKey(task="sort", item="a" * 16, budget=8, strategy="klass", rule=None), steps=3, correct=True, trace=(STEP,)
)


def opened(folder: Path, digest: str = "m") -> ExitLog:
    """Open the log of a folder."""
    return ExitLog(folder / "runs.jsonl", ASKING, digest)


def test_what_is_noted_is_found_again(tmp_path: Path) -> None:
    """Half a character in a draft included."""
    opened(tmp_path).note(RUN)
    again = opened(tmp_path)

    assert again.find(RUN.key) == RUN
    assert again.find(replace(RUN.key, rule="x")) is None
    assert len(again) == 1
    assert STEP.trace().data == b"\xc3"


def test_half_a_line_is_dropped(tmp_path: Path) -> None:
    """As a killed run leaves it; the run is made again."""
    opened(tmp_path).note(RUN)
    with (tmp_path / "runs.jsonl").open("ab") as file:
        file.write(b'{"key":')
    opened(tmp_path).note(replace(RUN, key=replace(RUN.key, budget=4)))

    assert len(opened(tmp_path)) == 2


def test_runs_of_other_weights_are_refused(tmp_path: Path) -> None:
    """They say nothing of these."""
    opened(tmp_path).note(RUN)

    with pytest.raises(ExitFileError, match=r"holds runs of tiny m .* and this is tiny other"):
        opened(tmp_path, "other")


def test_a_damaged_line_is_refused(tmp_path: Path) -> None:
    """Nothing is guessed."""
    opened(tmp_path).note(RUN)
    with (tmp_path / "runs.jsonl").open("ab") as file:
        file.write(b'{"key":1}\n')

    with pytest.raises(ExitFileError, match="damaged"):
        opened(tmp_path)


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    """With what to do."""
    (tmp_path / "runs.jsonl").mkdir()

    with pytest.raises(ExitRunError, match="--folder"):
        opened(tmp_path)
