"""``unmask world``: each act is in a module of its own."""

import argparse
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType

from unmask.cli.tools import Tools

ACTS: Mapping[str, tuple[str, str]] = MappingProxyType({
    "check": ("unmask.cli.world_check", "run_check"),
    "ask": ("unmask.cli.world_ask", "run_ask"),
    "import": ("unmask.cli.world_import", "run_import"),
})  # fmt: skip
"""Where the function of each act is."""


def run_world(args: argparse.Namespace, tools: Tools) -> int:
    """Do what was asked with a world."""
    module, name = ACTS[args.act]
    act: Callable[[argparse.Namespace, Tools], int] = getattr(import_module(module), name)
    return act(args, tools)
