"""What an answer is read against: who speaks, in which world and language, and what was asked."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from unmask.gate.reading.mentions import Mention, Names
from unmask.gate.reading.normal import normalised
from unmask.gate.reading.phrases import Phrases, Words, phrase_pattern
from unmask.gate.reading.said import Tense
from unmask.gate.reading.tense import tense_of
from unmask.knowledge.world import Slot, ValueKind, World

_INTERROGATIVES = frozenset(
    {"who", "what", "where", "when", "why", "how", "which", "whom", "whose", "누구", "어디", "언제"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A world prepared for reading answers in one language.

    Attributes:
        vocabulary: values in use, by slot name; a word of the world may be used by several slots, or by none.
        cues: words that tell a slot in an answer, by slot name: the package's and what the world asks for it with.
    """

    world: World
    words: Words
    names: Names
    phrases: Phrases
    vocabulary: Mapping[str, frozenset[str]]
    cues: Mapping[str, tuple[re.Pattern[str], ...]]

    def slot(self, subject: str, name: str) -> Slot | None:
        """Return a slot of an entity, or nothing where the entity or its type has none of that name."""
        entity = self.world.entities.get(subject)
        return None if entity is None else self.world.types[entity.type].slots.get(name)

    def fitting(self, slot: Slot, mention: Mention) -> frozenset[str]:
        """Return what of a mention may be a value of a slot."""
        match slot.kind:
            case ValueKind.ENTITY:
                return frozenset(
                    entity
                    for entity in mention.entities
                    if not slot.refers_to or self.world.entities[entity].type in slot.refers_to
                )
            case ValueKind.WORD:
                taken = frozenset().union(*(values for name, values in self.vocabulary.items() if name != slot.name))
                own = self.vocabulary.get(slot.name, frozenset())
                return frozenset(word for word in mention.words if word in own or word not in taken)
            case ValueKind.TEXT | ValueKind.NUMBER:
                return frozenset()


def setting_of(world: World, language: str, phrases: Phrases) -> Setting:
    """Prepare a world; a language that there are no phrases for is read with those of English.

    Names and words are found in every language; only what is said around them is read by the phrases of one.
    """
    words = phrases.words.get(language) or phrases.words["en"]
    vocabulary: dict[str, set[str]] = {}
    for statement in world.statements.values():
        vocabulary.setdefault(statement.slot, set()).add(statement.value)
    for misconception in world.misconceptions.values():
        vocabulary.setdefault(misconception.slot, set()).add(misconception.claimed)
    return Setting(
        world=world,
        words=words,
        names=Names(world),
        phrases=phrases,
        vocabulary={slot: frozenset(values) for slot, values in vocabulary.items()},
        cues=_cues(world, language, words),
    )


def _cues(world: World, language: str, words: Words) -> Mapping[str, tuple[re.Pattern[str], ...]]:
    asked: dict[str, set[str]] = {}
    for entity_type in world.types.values():
        for slot in entity_type.slots.values():
            said = (phrase for phrase in slot.asked_by.get(language, ()) if not _only_asks(phrase))
            asked.setdefault(slot.name, set()).update(map(normalised, said))
    return {
        slot: (
            *((words.cues[slot],) if slot in words.cues else ()),
            phrase_pattern(tuple(sorted(asked.get(slot, ()))), words.language),
        )
        for slot in asked
    }


def _only_asks(phrase: str) -> bool:
    """Whether a phrase is a question word, which tells nothing in an answer."""
    return not set(normalised(phrase).casefold().split()) - _INTERROGATIVES


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, as far as it matters to reading its answer.

    Attributes:
        is_plain: whether ``subject`` is said, and not a guess such as after "and their era?".
        others: whom "she" may be in the answer: who stands in the slots asked for, as in "the home of your ally".
        subject: whom it is about: the speaker, or else the first it names that can have what it asks for.
        slots: names of slots that it asks for, by its own words.
        values: what it names.
        is_past: whether it asks how things were.
    """

    speaker: str
    subject: str
    is_plain: bool
    others: frozenset[str]
    slots: frozenset[str]
    values: frozenset[str]
    is_past: bool


def asked_of(setting: Setting, speaker: str, question: str) -> Asked:
    """Read a question."""
    plain = normalised(question)
    masked = setting.names.mask(plain)
    asked_by = {
        slot.name: tuple(map(normalised, slot.asked_by.get(setting.words.language, ())))
        for entity_type in setting.world.types.values()
        for slot in entity_type.slots.values()
    }
    folded = plain.casefold()
    slots = {
        slot
        for slot, patterns in setting.cues.items()
        if any(pattern.search(masked.text) for pattern in patterns)
        or any(phrase.casefold() in folded for phrase in asked_by.get(slot, ()) if phrase)
    }
    to_speaker = setting.words.second_person.search(masked.text) is not None
    others = (entity for mention in masked.mentions.values() for entity in sorted(mention.entities))
    having = (entity for entity in others if any(setting.slot(entity, slot) is not None for slot in slots))
    named = next(having, None)
    subject = speaker if to_speaker or named is None else named
    pronoun = setting.words.third_person.search(masked.text) is not None
    return Asked(
        speaker=speaker,
        subject=subject,
        is_plain=(to_speaker or named is not None or not pronoun) and len(slots) == 1,
        others=_others(setting, subject, frozenset(slots)),
        slots=frozenset(slots),
        values=frozenset(value for mention in masked.mentions.values() for value in mention.values),
        is_past=tense_of(masked.text, setting.words) is Tense.PAST,
    )


def _others(setting: Setting, subject: str, slots: frozenset[str]) -> frozenset[str]:
    world = setting.world
    return frozenset(
        statement.value
        for statement in world.statements.values()
        if statement.subject == subject
        and statement.slot in slots
        and statement.value in world.entities
        and world.types[world.entities[statement.value].type].slots
    )
