"""``unmask serve``."""

import argparse

from unmask.app.serve import serve
from unmask.cli.exits import Exit
from unmask.cli.tools import Tools
from unmask.config import Settings, load_settings, settings_from


def run_serve(args: argparse.Namespace, tools: Tools) -> int:
    """Serve until a stop signal."""
    cut_off = serve(_settings(args), tools.make_backend, tools.err)
    return Exit.MISSED if cut_off else Exit.OK


def _settings(args: argparse.Namespace) -> Settings:
    given = {"host": args.host, "port": args.port, "models": args.model, "threads": args.threads}
    base = load_settings(args.config) if args.config else Settings()
    return settings_from({name: value for name, value in given.items() if value is not None}, base)
