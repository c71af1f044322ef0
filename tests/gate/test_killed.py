"""A run that is killed, again and again."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from time import monotonic, sleep

from tests.gate.killed_run import SEEDS, make_run
from tests.gate.s3_server import s3_server
from unmask.gate.artefacts import RESPONSES, RunFolder
from unmask.gate.codec import read_response

ROOT = Path(__file__).parents[2]
KILLS = (5, 60)
"""Answers after which it is killed."""
LONGEST_S = 60.0
FEW = 8
"""Seeds where each answer takes a while to keep."""


def started(folder: str, log: Path, seeds: int = SEEDS) -> "subprocess.Popen[bytes]":
    """Start the run in a process of its own."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    command = [sys.executable, str(ROOT / "tests" / "gate" / "killed_run.py"), folder, str(log), str(seeds)]
    return subprocess.Popen(command, env=os.environ | {"PYTHONPATH": path})


def killed_after(answers: int, folder: str, log: Path, seeds: int = SEEDS) -> None:
    """Start the run and kill it, without a chance to tidy up, when it has counted so many answers."""
    process = started(folder, log, seeds)
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


def test_a_killed_run_loses_and_repeats_no_finished_answer(tmp_path: Path) -> None:
    """Killed at two moments and gone on with, it ends with every answer exactly once."""
    folder, log = str(tmp_path / "run"), tmp_path / "counted"
    for answers in KILLS:
        killed_after(answers, folder, log)
        assert len(RunFolder(folder).responses()) >= last(log)

    assert started(folder, log).wait(timeout=LONGEST_S) == 0
    whole = [read_response(line).key for line in (tmp_path / "run" / RESPONSES).read_bytes().splitlines()]
    assert set(whole) == set(make_run().keys())
    assert max(Counter(whole).values()) == 1


def test_an_interrupted_job_asks_nothing_twice_that_is_in_the_bucket(tmp_path: Path) -> None:
    """Killed as spot capacity is and begun anew by another machine, it goes on from the objects that are there."""
    log = tmp_path / "counted"
    with s3_server() as bucket:
        folder = f"{bucket}/작업/run"
        killed_after(KILLS[0], folder, log, FEW)
        before = RunFolder(folder).lines(RESPONSES)
        assert len(before) >= last(log)

        assert started(folder, log, FEW).wait(timeout=LONGEST_S) == 0
        lines = RunFolder(folder).lines(RESPONSES)
    assert lines[: len(before)] == before
    whole = [read_response(line).key for line in lines]
    assert set(whole) == set(make_run(FEW).keys())
    assert max(Counter(whole).values()) == 1
