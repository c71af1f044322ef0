"""Where the facts of a prompt come from, as the gate sees it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from unmask.gate.response import TurnResponse
from unmask.gate.scenario import Scenario, Turn
from unmask.knowledge.context import Context
from unmask.knowledge.world import World


class Retriever(Protocol):
    """Chooses and packs the facts of one turn's prompt."""

    @property
    def name(self) -> str:
        """Say how it chooses and packs, in words that tell any two ways apart; a run is bound to them."""
        ...

    @property
    def sees_needed(self) -> bool:
        """Whether it may know what a question needs. Only a baseline may, that is to have every needed fact in it."""
        ...

    def context(self, world: World, scenario: Scenario, turn: int, earlier: Sequence[TurnResponse]) -> Context:
        """Return the facts for a turn.

        The prompt has them alone: those of earlier turns are not in it, though what was said then is.

        Args:
            world: what there is to know.
            scenario: what is asked; stripped by `blinded` unless the retriever sees what is needed.
            turn: which of its turns, from 0.
            earlier: the turns before it, with their facts and the answers that were given.
        """
        ...


def blinded(scenario: Scenario) -> Scenario:
    """Return a scenario of which nothing is left but what is asked, and of whom."""
    turns = tuple(Turn(question=turn.question, needed=(), checks=()) for turn in scenario.turns)
    return replace(scenario, turns=turns, note="")
