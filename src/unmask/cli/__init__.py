"""The commands."""

from unmask.cli.entry import main

__all__ = ["main"]
