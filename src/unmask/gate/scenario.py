"""Scenarios: what is asked, which facts an answer needs, and what it is held against."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from unmask.knowledge.world import World


class ScenarioKind(StrEnum):
    """What a scenario tries."""

    FACT = "fact"
    TRAP = "trap"
    DEEP_LORE = "deep_lore"
    PERSONA = "persona"
    CROSS_REFERENCE = "cross_reference"
    ABSENT_FACT = "absent_fact"
    MULTI_TURN = "multi_turn"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatesFact:
    """The answer states a fact: ``statement`` is its id in the world."""

    statement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectsClaim:
    """The answer denies a misconception and says what is true instead."""

    misconception: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmitsUnknown:
    """The answer says that it does not know an entity's slot."""

    subject: str
    slot: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NamesEntities:
    """The answer names these entities, by whatever alias."""

    entities: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepsManner:
    """The answer is in a persona's manner: ``persona`` is a key of the world's vocabulary."""

    persona: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HasForm:
    """The answer keeps a form: at most so many characters, and a pattern that it matches from end to end, if given."""

    most_characters: int | None = None
    pattern: str | None = None


Check: TypeAlias = StatesFact | CorrectsClaim | AdmitsUnknown | NamesEntities | KeepsManner | HasForm


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Something that may be said: ``subject slot value``, written as in a world."""

    subject: str
    slot: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One question of a scenario.

    Attributes:
        needed: ids of statements and misconceptions without which it cannot be answered. Retrieval never sees them.
        forbidden: claims that would be a hallucination.
    """

    question: str
    needed: tuple[str, ...]
    checks: tuple[Check, ...]
    forbidden: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One evaluation item.

    Attributes:
        world: id of a world of its suite.
        speaker: id of the entity that answers.
        cluster: scenarios of one cluster resemble each other and count as one in every interval.
        note: where it comes from, such as the finding of a review.
    """

    id: str
    world: str
    language: str
    kind: ScenarioKind
    speaker: str
    cluster: str
    turns: tuple[Turn, ...]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Scenarios with the worlds they are about.

    Attributes:
        family: name that stays when scenarios are added or mended; looks are counted by it.
        digest: of scenarios and worlds.
    """

    id: str
    family: str
    scenarios: tuple[Scenario, ...]
    worlds: Mapping[str, World]
    digest: str
