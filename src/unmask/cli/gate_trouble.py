"""Tells of faults while they are tried again, so that a wrong address does not look like slow work."""

from unmask.cli.tools import Tools
from unmask.gate.patience import Patience

MOST_TOLD = 3


class Trouble:
    """Says each reason once, and no more than a few: busy servers have hundreds."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._told: set[str] = set()

    def __call__(self, reason: str) -> None:
        """Tell of a fault."""
        if reason in self._told or len(self._told) == MOST_TOLD:
            return
        self._told.add(reason)
        minutes = Patience().total_s / 60
        self._tools.say(f"{reason}; trying again, each for up to {minutes:g} minutes")
