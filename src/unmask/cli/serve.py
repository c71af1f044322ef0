"""``unmask serve``."""

import argparse

from unmask.app.serve import serve
from unmask.cli.exits import Exit
from unmask.cli.settings import load_given
from unmask.cli.tools import Tools


def run_serve(args: argparse.Namespace, tools: Tools) -> int:
    """Serve until a stop signal."""
    loaded = load_given(args)
    if loaded.file is not None:
        tools.say(f"settings from {loaded.file}")
    cut_off = serve(loaded.settings, tools.make_backend, tools.err)
    return Exit.MISSED if cut_off else Exit.OK
