"""The stages of the experiment: what retrieval sees of a world, and how it chooses from it.

Every answer is judged by the whole world. The two middle stages see a world from which a share was withheld, as a
graph is before anybody has read what the model says with it; the last one has it back. The baseline is told what is
needed and draws on the whole world, so that it loses by what surrounds the needed facts and never by lacking them.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random
from typing import assert_never

from unmask.gate.response import TurnResponse
from unmask.gate.retrieval import NaiveRetrieval, TypedRetrieval
from unmask.gate.retriever import Retriever, blinded
from unmask.gate.scenario import Scenario, Suite
from unmask.knowledge.context import Context, Form
from unmask.knowledge.digest import digest_of
from unmask.knowledge.retriever import Retrieval
from unmask.knowledge.world import World

STATEMENTS_WITHHELD = 0.05
MISCONCEPTIONS_WITHHELD = 0.5
BY_GRAPH_ALONE = Retrieval(most_similar=0, pin_speaker=False, pin_linked=False)


class Stage(StrEnum):
    """How facts get into a prompt, from the first attempt to the last."""

    NAIVE = "naive"
    TYPED = "typed"
    HYBRID = "hybrid"
    COMPLETED = "completed"

    @property
    def label(self) -> str:
        """Its name, for people."""
        match self:
            case Stage.NAIVE:
                return "naive triples"
            case Stage.TYPED:
                return "typed graph"
            case Stage.HYBRID:
                return "hybrid retrieval"
            case Stage.COMPLETED:
                return "graph completed"
            case _:
                assert_never(self)

    @property
    def words(self) -> str:
        """What it is."""
        match self:
            case Stage.NAIVE:
                return "53 ± 10 facts as triples, all needed ones among them"
            case Stage.TYPED:
                return "slots and paths alone; no vectors, pinned facts or misconception records; graph incomplete"
            case Stage.HYBRID:
                return "vectors, pinned identity and misconception triggers too; graph incomplete"
            case Stage.COMPLETED:
                return "the same, with the missing facts and misconception records added"
            case _:
                assert_never(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """What a stage does: who chooses, and the worlds that it chooses from."""

    retriever: Retriever
    worlds: Mapping[str, World]

    def contexts(self, scenario: Scenario) -> tuple[Context, ...]:
        """Return the facts of each turn of a scenario; none of the ways reads what was answered."""
        seen = scenario if self.retriever.sees_needed else blinded(scenario)
        earlier: list[TurnResponse] = []
        for turn in range(len(scenario.turns)):
            context = self.retriever.context(self.worlds[scenario.world], seen, turn, tuple(earlier))
            earlier.append(_unanswered(context))
        return tuple(response.context for response in earlier)


def ways(suite: Suite) -> dict[Stage, Way]:
    """Return what each stage does with a suite."""
    incomplete = {name: incomplete_world(world) for name, world in suite.worlds.items()}
    unwarned = {name: _without_misconceptions(world) for name, world in incomplete.items()}
    hybrid = TypedRetrieval(Form.CARDS)
    return {
        Stage.NAIVE: Way(retriever=NaiveRetrieval(), worlds=suite.worlds),
        Stage.TYPED: Way(retriever=TypedRetrieval(Form.CARDS, BY_GRAPH_ALONE), worlds=unwarned),
        Stage.HYBRID: Way(retriever=hybrid, worlds=incomplete),
        Stage.COMPLETED: Way(retriever=hybrid, worlds=suite.worlds),
    }


def incomplete_world(world: World) -> World:
    """Return a world without a share of its statements and misconceptions, drawn by its id.

    A misconception whose correction was withheld goes with it: there is no record without one.
    """
    rng = Random(f"withheld from {world.id}")
    gone = set(_drawn(rng, sorted(world.statements), STATEMENTS_WITHHELD))
    statements = {name: one for name, one in world.statements.items() if name not in gone}
    gone_too = set(_drawn(rng, sorted(world.misconceptions), MISCONCEPTIONS_WITHHELD))
    misconceptions = {
        name: one
        for name, one in world.misconceptions.items()
        if name not in gone_too and all(correction in statements for correction in one.correction)
    }
    return _named(replace(world, statements=statements, misconceptions=misconceptions))


def _drawn(rng: Random, names: list[str], share: float) -> Iterator[str]:
    """Draw a share of names; what is left of a whole one is drawn too, so that the share holds over many worlds."""
    whole = share * len(names)
    yield from rng.sample(names, math.floor(whole) + (rng.random() < whole % 1))


def _without_misconceptions(world: World) -> World:
    return _named(replace(world, misconceptions={}))


def _named(world: World) -> World:
    return replace(world, digest=digest_of(world))


def _unanswered(context: Context) -> TurnResponse:
    return TurnResponse(
        messages=(),
        context=context,
        text="",
        finish_reason="",
        prompt_tokens=0,
        output_tokens=0,
        steps=None,
        seconds=0.0,
    )
