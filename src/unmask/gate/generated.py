"""A suite made up by a seed: thousands of scenarios over dozens of worlds, so that narrow intervals can be had.

A cluster is a world and the person who is asked: its scenarios share facts, names and a card. Questions are of the
kinds, and in the phrasings, of the dialogue task's test split, so that the embedded models may be expected to answer;
each kind has its share of all scenarios.
"""

from collections.abc import Iterator, Mapping
from random import Random
from types import MappingProxyType
from typing import TYPE_CHECKING

from unmask.gate.generated_asking import Ask, Asking
from unmask.gate.generated_world import LANGUAGE, PERSONS, MadeWorld, make_world
from unmask.gate.scenario import Scenario, Suite
from unmask.gate.suite_digest import suite_digest

if TYPE_CHECKING:
    from unmask.knowledge.world import World

FAMILY = "generated"
WORLDS = 40
SCENARIOS_PER_CLUSTER = 5
SHARES: Mapping[Ask, float] = MappingProxyType({
    Ask.FACT: 0.25,
    Ask.RECORDED_TRAP: 0.1,
    Ask.UNRECORDED_TRAP: 0.1,
    Ask.DEEP_LORE: 0.1,
    Ask.PERSONA: 0.1,
    Ask.CROSS_REFERENCE: 0.1,
    Ask.ABSENT_FACT: 0.1,
    Ask.FOLLOW_UP: 0.075,
    Ask.FOLLOW_OTHER: 0.075,
})  # fmt: skip
"""Shares of scenarios; they add up to 1."""


def generated_suite(seed: int = 0, worlds: int = WORLDS) -> Suite:
    """Make a suite.

    Args:
        seed: draws all of it; the same seed makes the same suite.
        worlds: how many, of `PERSONS` persons and as many clusters each.
    """
    rng = Random(f"unmask gate suite {seed}")
    clusters = worlds * PERSONS
    deck = _deck(rng, clusters * SCENARIOS_PER_CLUSTER)
    hands = [deck[at::clusters] for at in range(clusters)]
    scenarios: list[Scenario] = []
    made: dict[str, World] = {}
    for number in range(worlds):
        dealt = hands[number * PERSONS : (number + 1) * PERSONS]
        world_id = f"generated-{seed}-{number + 1:02d}"
        drawn = make_world(rng, world_id, [hand.count(Ask.RECORDED_TRAP) for hand in dealt])
        made[world_id] = drawn.world
        for person, hand in zip(drawn.persons, dealt, strict=True):
            scenarios += _cluster(rng, drawn, person, hand)
    return Suite(
        id=f"generated-{seed}" if worlds == WORLDS else f"generated-{seed}-of-{worlds}",
        family=FAMILY,
        scenarios=tuple(scenarios),
        worlds=made,
        digest=suite_digest(scenarios, made),
    )


def _deck(rng: Random, size: int) -> list[Ask]:
    """Return so many kinds in their shares, shuffled; what rounding leaves over is the first kind's."""
    deck = [ask for ask, share in SHARES.items() for _ in range(round(share * size))][:size]
    deck += [next(iter(SHARES))] * (size - len(deck))
    rng.shuffle(deck)
    return deck


def _cluster(rng: Random, drawn: MadeWorld, person: str, hand: list[Ask]) -> Iterator[Scenario]:
    asking = Asking(rng, drawn, person)
    for number, ask in enumerate(hand, start=1):
        yield Scenario(
            id=f"{drawn.world.id}-{person}-{number}",
            world=drawn.world.id,
            language=LANGUAGE,
            kind=ask.kind,
            speaker=person,
            cluster=f"{drawn.world.id}/{person}",
            turns=asking.turns(ask),
        )
