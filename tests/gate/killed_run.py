"""A run over a fake backend, to be killed: ``killed_run.py FOLDER LOG SEEDS`` logs every answer that it counts."""

import asyncio
import sys
from pathlib import Path
from random import Random

from unmask.clock import SystemClock
from unmask.gate.artefacts import RunFolder
from unmask.gate.patience import Trying
from unmask.gate.run import ask_all
from unmask.gate.run_plan import Endpoint, Run, Way
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.gate_answers import FixedRetriever, make_binding, make_system, small_suite

SEEDS = 40


def make_run(seeds: int = SEEDS) -> Run:
    """Return a run of three answers a seed; the 120 of all take a good second."""
    backend = FakeBackend(lambda request: f"답 {request.sampling.seed} " + "긴 글 " * 2000, step_s=0.01)
    endpoint = Endpoint(system=make_system(), backend=backend)
    return Run(
        suite=small_suite(),
        seeds=tuple(range(seeds)),
        endpoints=(endpoint,),
        retriever=FixedRetriever(),
        way=Way(concurrency=4),
    )


def main(url: str, log: Path, seeds: int) -> None:
    """Go on with the run, whether or not it was begun."""
    folder = RunFolder(url)
    folder.begin(make_binding())
    with log.open("a", encoding="utf-8", buffering=1) as counted:
        asyncio.run(
            ask_all(
                make_run(seeds),
                folder,
                Trying(clock=SystemClock(), rng=Random(0)),
                lambda done, total: print(done, total, file=counted),
            )
        )


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
