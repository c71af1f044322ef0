"""A world: typed entities, what holds of them, and what people wrongly believe.

An entity has slots by its type, so that *where does she live* asks for one slot of one entity and a retriever need
not guess which of fifty sentences says it. What is believed and false is a record of its own, with its correction:
left to a retriever, the false belief is only ever contradicted by a fact that looks like any other.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

Texts = Mapping[str, str]
"""A text by language, such as ``{"en": "keeper", "ko": "파수꾼"}``."""
Phrases = Mapping[str, tuple[str, ...]]
"""Several texts by language."""


class ValueKind(StrEnum):
    """What a slot holds: a word of the world's vocabulary, free text, a number, or another entity."""

    WORD = "word"
    TEXT = "text"
    NUMBER = "number"
    ENTITY = "entity"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a record was written: file, line, and whatever note its author left on where it comes from."""

    file: str
    line: int
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """What may be said of an entity.

    Attributes:
        many: whether several values hold at once; else one does at a time.
        refers_to: entity types that a value may be of, for a slot that refers to entities.
        identity: whether its facts say who an entity is, and so are never ranked away.
        asked_by: words that a question asks for it with, by language.
    """

    name: str
    kind: ValueKind
    many: bool = False
    refers_to: tuple[str, ...] = ()
    identity: bool = False
    asked_by: Phrases


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityType:
    """A kind of entity and its slots by name."""

    name: str
    slots: Mapping[str, Slot]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """Somebody or something: a name in every language of its world, and other names that mean it.

    Two entities may share an alias, which is then ambiguous; no two share a name in one language.
    """

    id: str
    type: str
    names: Texts
    aliases: Phrases
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Validity:
    """From when until when something held, in the world's own words; what has no end holds now."""

    since: str | None = None
    until: str | None = None

    @property
    def is_current(self) -> bool:
        """Whether it holds now."""
        return self.until is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One fact: ``subject slot value``.

    Attributes:
        id: unique in its world, such as ``kaelis.home``.
        subject: id of an entity.
        value: an entity's id, a key of the world's vocabulary, or the text or number itself, as its slot's kind says.
    """

    id: str
    subject: str
    slot: str
    value: str
    validity: Validity
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Misconception:
    """Something believed and false.

    Attributes:
        id: unique among the statements and misconceptions of its world.
        subject: id of the entity it is about.
        confused_with: id of the entity it is mistaken for, or whose fact is mistaken for its own.
        slot: which slot of the subject the claim is on.
        claimed: the false value, written as a `Statement`'s.
        correction: ids of statements that put it right.
        triggers: what a question says when it believes this, beyond naming subject and value, by language.
    """

    id: str
    subject: str
    confused_with: str | None = None
    slot: str
    claimed: str
    correction: tuple[str, ...]
    triggers: Phrases
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """All that is known, checked: every reference leads somewhere.

    Attributes:
        languages: codes, the first one the language of ids and of last resort.
        words: vocabulary that slots of kind `ValueKind.WORD` draw on, each in every language.
        times: in order, what validities are told in; empty where the world does not say.
        digest: of the content, whatever files and order it was read from.
    """

    id: str
    title: str
    languages: tuple[str, ...]
    types: Mapping[str, EntityType]
    words: Mapping[str, Texts]
    entities: Mapping[str, Entity]
    statements: Mapping[str, Statement]
    misconceptions: Mapping[str, Misconception]
    digest: str
    times: tuple[str, ...] = ()

    def slot_of(self, subject: str, name: str) -> Slot:
        """Return a slot of an entity's type; ``KeyError`` if it has none of that name."""
        return self.types[self.entities[subject].type].slots[name]

    def text_of(self, subject: str, slot: str, value: str, language: str) -> str:
        """Return a value of an entity's slot as people read it."""
        match self.slot_of(subject, slot).kind:
            case ValueKind.ENTITY:
                return self.entities[value].names[language]
            case ValueKind.WORD:
                return self.words[value][language]
            case ValueKind.TEXT | ValueKind.NUMBER:
                return value
