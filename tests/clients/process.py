"""`unmask serve` as a process of its own, with the smallest model of the package."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import unmask
from unmask.config.keys import PREFIX

MODEL = "nano"
ROWS = 4
"""Few, so that a large call takes its time."""
LONGEST_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """Where the process listens, and the command that it says to try."""

    url: str
    command: str


@contextmanager
def served_process(folder: Path) -> Iterator[Served]:
    """Run the command in a folder without settings; a stop signal has to end it well."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    process = subprocess.Popen(
        [sys.executable, "-m", "unmask.cli", "serve", "--port", "0", "--model", MODEL, "--max-rows", str(ROWS)],
        cwd=folder,
        env=environ | {"PYTHONPATH": str(Path(unmask.__file__).parents[1])},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    with process, process.stderr:
        try:
            first = process.stderr.readline()
            assert " listens on " in first, first + process.stderr.read()
            command = next(line for line in process.stderr if line.startswith("curl "))
            yield Served(url=first.split()[-1], command=command.rstrip("\n"))
        finally:
            process.terminate()
        assert process.wait(timeout=LONGEST_S) == 0
