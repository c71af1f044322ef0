"""A real server over a fake backend, in a process of its own, which tests kill."""

import sys
from dataclasses import replace

from rich.console import Console

from unmask.app.serve import serve
from unmask.config import Settings
from unmask.config.choices import KeyMode
from unmask.testing.fake_backend import FakeBackend


def run(database: str, keys: KeyMode, prices: str | None) -> int:
    """Serve until stopped; where it listens is the first thing it says."""
    settings = replace(Settings(port=0), database=database, keys=keys, prices=prices, drain_s=10.0)
    console = Console(file=sys.stdout, width=400, force_terminal=False)
    return serve(settings, lambda _: FakeBackend(step_s=0.005), console)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], KeyMode(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None))
