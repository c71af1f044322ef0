"""What a world holds, and what is odd about it without being wrong."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from unmask.knowledge.schema import folded
from unmask.knowledge.world import Origin, ValueKind, World


class Oddity(StrEnum):
    """A kind of note."""

    AMBIGUOUS = "ambiguous name"
    SAME_WORD = "two slots, one word"
    UNREFERRED = "nobody refers to it"
    SILENT = "nothing is said of it"
    UNUSED_SLOT = "unused slot"
    UNUSED_WORD = "unused word"
    UNTRIGGERED = "no trigger"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something that its author may not have meant.

    Attributes:
        place: where; ``None`` for what is in the head of a world, whose lines are not kept.
    """

    oddity: Oddity
    text: str
    place: Origin | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeCount:
    """What there is of one entity type."""

    type: str
    entities: int
    aliases: int
    current: int
    former: int
    misconceptions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """Counts by type, and notes."""

    counts: tuple[TypeCount, ...]
    notes: tuple[Note, ...]


def survey(world: World) -> Survey:
    """Count what a world holds and note what is odd."""
    notes = (*_ambiguous(world), *_same_words(world), *_entities(world), *_unused(world), *_untriggered(world))
    return Survey(counts=tuple(_count(world, name) for name in world.types), notes=notes)


def _count(world: World, name: str) -> TypeCount:
    entities = {key for key, entity in world.entities.items() if entity.type == name}
    statements = [found for found in world.statements.values() if found.subject in entities]
    current = sum(found.validity.is_current for found in statements)
    return TypeCount(
        type=name,
        entities=len(entities),
        aliases=sum(len(texts) for key in entities for texts in world.entities[key].aliases.values()),
        current=current,
        former=len(statements) - current,
        misconceptions=sum(found.subject in entities for found in world.misconceptions.values()),
    )


def _ambiguous(world: World) -> Iterator[Note]:
    meant: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for key, entity in world.entities.items():
        for language in world.languages:
            for text in (entity.names[language], *entity.aliases.get(language, ())):
                meant[language, folded(text)][key] = text
    for (language, _), found in sorted(meant.items()):
        if len(found) > 1:
            text = next(iter(found.values()))
            origin = world.entities[min(found)].origin
            yield Note(
                oddity=Oddity.AMBIGUOUS, text=f"{text} ({language}) may be {' or '.join(sorted(found))}", place=origin
            )


def _same_words(world: World) -> Iterator[Note]:
    for kind in world.types.values():
        asked: dict[tuple[str, str], list[str]] = defaultdict(list)
        for slot in kind.slots.values():
            for language, words in slot.asked_by.items():
                for word in words:
                    asked[language, folded(word)].append(slot.name)
        for (language, word), slots in sorted(asked.items()):
            if len(slots) > 1:
                yield Note(
                    oddity=Oddity.SAME_WORD,
                    text=f"{word} ({language}) asks a {kind.name} for {' and for '.join(slots)}",
                )


def _entities(world: World) -> Iterator[Note]:
    referred = {
        found.value
        for found in world.statements.values()
        if world.slot_of(found.subject, found.slot).kind is ValueKind.ENTITY
    }
    spoken_of = {found.subject for found in world.statements.values()}
    for key, entity in world.entities.items():
        if key not in spoken_of:
            yield Note(oddity=Oddity.SILENT, text=key, place=entity.origin)
        elif key not in referred:
            yield Note(oddity=Oddity.UNREFERRED, text=key, place=entity.origin)


def _unused(world: World) -> Iterator[Note]:
    used = Counter((world.entities[found.subject].type, found.slot) for found in world.statements.values())
    for kind in world.types.values():
        for slot in kind.slots:
            if not used[kind.name, slot]:
                yield Note(oddity=Oddity.UNUSED_SLOT, text=f"{slot} of {kind.name}")
    words = {
        value
        for subject, slot, value in (
            *((found.subject, found.slot, found.value) for found in world.statements.values()),
            *((found.subject, found.slot, found.claimed) for found in world.misconceptions.values()),
        )
        if world.slot_of(subject, slot).kind is ValueKind.WORD
    }
    for word in world.words:
        if word not in words:
            yield Note(oddity=Oddity.UNUSED_WORD, text=word)


def _untriggered(world: World) -> Iterator[Note]:
    for found in world.misconceptions.values():
        lacking = [language for language in world.languages if not found.triggers.get(language)]
        if lacking:
            yield Note(oddity=Oddity.UNTRIGGERED, text=f"{found.id} in {', '.join(lacking)}", place=found.origin)
