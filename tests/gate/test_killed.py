"""A run that is killed, again and again."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from time import monotonic, sleep

import pytest

from tests.gate.killed_run import make_run
from unmask.gate.artefacts import RESPONSES, RunFolder
from unmask.gate.codec import read_response

ROOT = Path(__file__).parents[2]
KILLS = (5, 60)
"""Answers after which it is killed."""
LONGEST_S = 60.0


def started(folder: Path, log: Path) -> "subprocess.Popen[bytes]":
    """Start the run in a process of its own."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    command = [sys.executable, str(ROOT / "tests" / "gate" / "killed_run.py"), str(folder), str(log)]
    return subprocess.Popen(command, env=os.environ | {"PYTHONPATH": path})


def killed_after(answers: int, folder: Path, log: Path) -> None:
    """Start the run and kill it, without a chance to tidy up, when it has counted so many answers."""
    process = started(folder, log)
    begun = monotonic()
    try:
        while last(log) < answers:
            assert process.poll() is None, "it ended before it could be killed"
            assert monotonic() - begun < LONGEST_S, "it does not get on"
            sleep(0.002)
    finally:
        process.kill()
        process.wait()


def last(log: Path) -> int:
    """Return how many answers the run has counted."""
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return int(lines[-1].split()[0]) if lines else 0


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """Return a folder and a log that are not there yet."""
    return tmp_path / "run", tmp_path / "counted"


def test_a_killed_run_loses_and_repeats_no_finished_answer(places: tuple[Path, Path]) -> None:
    """Killed at two moments and gone on with, it ends with every answer exactly once."""
    folder, log = places
    for answers in KILLS:
        killed_after(answers, folder, log)
        assert len(RunFolder(str(folder)).responses()) >= last(log)

    assert started(folder, log).wait(timeout=LONGEST_S) == 0
    whole = [read_response(line).key for line in (folder / RESPONSES).read_bytes().splitlines()]
    assert set(whole) == set(make_run().keys())
    assert max(Counter(whole).values()) == 1
