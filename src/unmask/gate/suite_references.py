"""Whether what a scenario refers to is in its world, and whether it asks for what its world says."""

from collections.abc import Collection, Iterator
from difflib import get_close_matches
from typing import assert_never

from unmask.config.placed_yaml import Key
from unmask.errors import shown
from unmask.gate.scenario import (
    AdmitsUnknown,
    Check,
    Claim,
    CorrectsClaim,
    HasForm,
    KeepsManner,
    NamesEntities,
    Scenario,
    ScenarioKind,
    StatesFact,
    Turn,
)
from unmask.knowledge.world import ValueKind, World

MOST_SEARCHED = 2000
"""Ids among which a misspelt one is looked for."""
Misfit = tuple[tuple[Key, ...], str]
"""Where in a scenario something is wrong, and what."""


def misfits_of(scenario: Scenario, world: World) -> Iterator[Misfit]:
    """Yield everything about a scenario that does not fit its world."""
    if scenario.language not in world.languages:
        yield (
            ("language",),
            f"{shown(scenario.language)} is no language of {world.id}; allowed: {_all(world.languages)}",
        )
    yield from _unknown(("speaker",), scenario.speaker, world.entities, "entity")
    several = len(scenario.turns) > 1
    if several != (scenario.kind is ScenarioKind.MULTI_TURN):
        yield ("kind",), f"{scenario.kind} has {len(scenario.turns)} turns; allowed: several with multi_turn, else one"
    if not any(turn.checks for turn in scenario.turns):
        yield ("turns",), "nothing is checked, so no answer could be scored; add a check"
    for number, turn in enumerate(scenario.turns):
        for path, message in _turn_misfits(turn, world):
            yield ("turns", number, *path), message


def _turn_misfits(turn: Turn, world: World) -> Iterator[Misfit]:
    for number, name in enumerate(turn.needed):
        path: tuple[Key, ...] = ("needed", number)
        if name not in world.misconceptions:
            yield from _unknown(path, name, world.statements, "statement or misconception")
        if name in turn.needed[:number]:
            yield path, f"{shown(name)} is there twice"
    for number, check in enumerate(turn.checks):
        for path, message in _check_misfits(check, world):
            yield ("checks", number, *path), message
    for number, claim in enumerate(turn.forbidden):
        for message in _claim_misfits(claim, world):
            yield ("forbidden", number), message


def _check_misfits(check: Check, world: World) -> Iterator[Misfit]:
    match check:
        case StatesFact():
            yield from _unknown(("states",), check.statement, world.statements, "statement")
        case CorrectsClaim():
            yield from _unknown(("corrects",), check.misconception, world.misconceptions, "misconception")
        case AdmitsUnknown():
            for message in _slot_misfits(check.subject, check.slot, world) or _known(check, world):
                yield ("admits",), message
        case NamesEntities():
            for number, name in enumerate(check.entities):
                yield from _unknown(("names", number), name, world.entities, "entity")
        case KeepsManner():
            yield from _unknown(("manner",), check.persona, world.words, "word of the world's vocabulary")
        case HasForm():
            return
        case _:
            assert_never(check)


def _known(check: AdmitsUnknown, world: World) -> list[str]:
    told = [fact.id for fact in world.statements.values() if (fact.subject, fact.slot) == (check.subject, check.slot)]
    return [f"{check.subject} has a {check.slot}, by {told[0]}; nobody should admit not to know it"] if told else []


def _slot_misfits(subject: str, slot: str, world: World) -> list[str]:
    if subject not in world.entities:
        return [message for _, message in _unknown((), subject, world.entities, "entity")]
    kind = world.entities[subject].type
    slots = world.types[kind].slots
    return [] if slot in slots else [f"{shown(slot)} is no slot of a {kind}; allowed: {_all(slots) or 'none'}"]


def _claim_misfits(claim: Claim, world: World) -> list[str]:
    wrong = _slot_misfits(claim.subject, claim.slot, world)
    if wrong:
        return wrong
    match world.slot_of(claim.subject, claim.slot).kind:
        case ValueKind.ENTITY:
            wrong = [message for _, message in _unknown((), claim.value, world.entities, "entity")]
        case ValueKind.WORD:
            wrong = [message for _, message in _unknown((), claim.value, world.words, "word of the world's vocabulary")]
        case ValueKind.TEXT | ValueKind.NUMBER:
            wrong = []
    holds = [
        fact.id
        for fact in world.statements.values()
        if (fact.subject, fact.slot, fact.value) == (claim.subject, claim.slot, claim.value)
        and fact.validity.is_current
    ]
    return wrong or [f"{claim.subject} {claim.slot} {claim.value} is true, by {name}; remove it" for name in holds[:1]]


def _unknown(path: tuple[Key, ...], name: str, known: Collection[str], what: str) -> Iterator[Misfit]:
    if name in known:
        return
    close = get_close_matches(name, known, 1) if len(known) <= MOST_SEARCHED else []
    yield path, f"{shown(name)} is no {what}{f'; did you mean {close[0]}?' if close else ''}"


def _all(names: Collection[str]) -> str:
    return ", ".join(names)
