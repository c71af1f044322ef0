"""What a question mentions, as found in its text before anything is decided."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An entity that a mention may mean; the score is higher the likelier it is."""

    entity: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A stretch of a question that names an entity.

    Attributes:
        start, end: units, the latter exclusive.
        tail: what follows the name in its last unit, such as a Korean particle.
        candidates: likeliest first; several where the name is one of several entities and nothing tells them apart.
    """

    start: int
    end: int
    tail: str
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueMention:
    """A stretch of a question that says a word, text or number that is a value in the world."""

    start: int
    end: int
    value: str


class Pointing(StrEnum):
    """Whom a pronoun points at: who answers, somebody named before, or a place or thing named before."""

    SPEAKER = "speaker"
    PERSON = "person"
    THING = "thing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pronoun:
    """A word that points at an entity without naming it."""

    start: int
    end: int
    tail: str
    pointing: Pointing


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotMention:
    """A stretch of a question that asks for a slot.

    Attributes:
        slots: names of slots asked for with these words; which is meant depends on whose they are.
        weak: whether the words are of the kind that every question has, such as *who is*.
    """

    start: int
    end: int
    tail: str
    slots: tuple[str, ...]
    weak: bool
