"""From the parts of files to a world in which every reference leads somewhere."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeVar

from unmask.config.placed_yaml import Key
from unmask.errors import shown
from unmask.knowledge.digest import digest_of
from unmask.knowledge.errors import Fault
from unmask.knowledge.folder import Part
from unmask.knowledge.langs import Languages, phrases_of
from unmask.knowledge.mistakes import build_misconceptions
from unmask.knowledge.schema import EntityDocument, MisconceptionDocument, SlotDocument, WorldDocument, folded
from unmask.knowledge.stated import build_statements
from unmask.knowledge.values import Values
from unmask.knowledge.world import Entity, EntityType, Origin, Slot, ValueKind, World

ItemT = TypeVar("ItemT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What the files say; of a part that is not as it should be there is no document."""

    part: Part
    head: WorldDocument
    entities: tuple[tuple[Part, EntityDocument | None], ...]
    misconceptions: tuple[tuple[Part, MisconceptionDocument | None], ...]


def build_world(sources: Sources) -> tuple[World | None, list[Fault]]:
    """Build a world, and return every fault beside it; with any fault the world is not to be used."""
    head = sources.head
    languages = Languages(codes=tuple(head.languages))
    faults = list(_head_faults(sources.part, head, languages))
    types = {name: _type(name, found.slots) for name, found in head.types.items()}
    named = _entities(sources, types, languages, faults)
    values = Values(
        words=frozenset(head.words),
        # An entity whose own part is malformed is still there to be referred to.
        types={part.key: None if found is None else found.type for part, found in reversed(sources.entities)},
        times=tuple(head.times),
    )
    statements = build_statements(named, types, values, faults)
    misconceptions = build_misconceptions(sources.misconceptions, types, values, statements, languages, faults)
    if not sources.entities:
        faults.append(sources.part.fault("the world is empty: it has no entity in entities.yaml or entities/"))
    world = World(
        id=head.id,
        title=head.title,
        languages=languages.codes,
        types=_sorted(types),
        words=_sorted({key: MappingProxyType(dict(texts)) for key, texts in head.words.items()}),
        entities=_sorted({part.key: _entity(part, found) for part, found in named.values()}),
        statements=_sorted(statements),
        misconceptions=_sorted(misconceptions),
        digest="",
        times=tuple(head.times),
    )
    return (None, faults) if faults else (replace(world, digest=digest_of(world)), faults)


def _head_faults(part: Part, head: WorldDocument, languages: Languages) -> Iterator[Fault]:
    for field, listed in (("languages", head.languages), ("times", head.times)):
        for index, item in enumerate(listed):
            if item in listed[:index]:
                yield part.fault(f"{field} has {item} twice", field, index)
    for key, texts in head.words.items():
        yield from languages.check_names(part, texts, "words", key)
    for name, found in head.types.items():
        for slot, document in found.slots.items():
            yield from _slot_faults(part, head, document, ("types", name, "slots", slot))
            yield from languages.check_phrases(part, document.asked_by, (*("types", name, "slots", slot), "asked_by"))


def _slot_faults(part: Part, head: WorldDocument, slot: SlotDocument, path: tuple[Key, ...]) -> Iterator[Fault]:
    where = ".".join(map(str, path))
    if slot.refers_to and slot.kind is not ValueKind.ENTITY:
        yield part.fault(f"{where} refers to entities, and so its kind is entity, not {slot.kind}", *path, "refers_to")
    for index, name in enumerate(slot.refers_to):
        if name not in head.types:
            known = ", ".join(head.types)
            yield part.fault(f"{where} refers to {shown(name)}, no type; allowed: {known}", *path, "refers_to", index)
    for code in head.languages:
        if not slot.asked_by.get(code):
            yield part.fault(f"{where} has no word that a question in {code} asks for it with", *path, "asked_by")


def _type(name: str, slots: Mapping[str, SlotDocument]) -> EntityType:
    return EntityType(
        name=name,
        slots=_sorted(
            {
                key: Slot(
                    name=key,
                    kind=slot.kind,
                    many=slot.many,
                    refers_to=tuple(slot.refers_to),
                    identity=slot.identity,
                    asked_by=phrases_of(slot.asked_by),
                )
                for key, slot in slots.items()
            }
        ),
    )


def _entities(
    sources: Sources, types: Mapping[str, EntityType], languages: Languages, faults: list[Fault]
) -> dict[str, tuple[Part, EntityDocument]]:
    """Return the entities that are well formed, each id once."""
    first: dict[str, Part] = {}
    names: dict[tuple[str, str], Part] = {}
    kept: dict[str, tuple[Part, EntityDocument]] = {}
    for part, found in sources.entities:
        faults += _id_faults(part, first)
        if found is None or first[part.key] is not part:
            continue
        kept[part.key] = (part, found)
        if found.type not in types:
            faults.append(part.fault(f"{shown(found.type)} is no type; allowed: {', '.join(types)}", "type"))
        faults += languages.check_names(part, found.names, "names")
        faults += languages.check_phrases(part, found.aliases, ("aliases",))
        for code, name in found.names.items():
            other = names.setdefault((code, folded(name)), part)
            if other is not part:
                taken = f"{other.key} ({other.file}:{other.placed.line_at(('names', code))})"
                faults.append(part.fault(f"{part.key} has the name {shown(name)} of {taken} in {code}", "names", code))
    return kept


def _id_faults(part: Part, first: dict[str, Part]) -> Iterator[Fault]:
    other = first.setdefault(part.key, part)
    if other is not part:
        yield part.fault(f"the id {shown(part.key)} is there twice, first in {other.file}:{other.placed.line}")
    if not part.key.replace("-", "_").replace("_", "a").isalnum():
        yield part.fault(f"{shown(part.key)} is no id; allowed: letters, digits, - and _")


def _entity(part: Part, found: EntityDocument) -> Entity:
    return Entity(
        id=part.key,
        type=found.type,
        names=MappingProxyType(dict(found.names)),
        aliases=phrases_of(found.aliases),
        origin=Origin(file=part.file, line=part.placed.line, note=found.note or ""),
    )


def _sorted(items: Mapping[str, ItemT]) -> Mapping[str, ItemT]:
    """Order by id: worlds of one digest are the same whatever files they come from."""
    return MappingProxyType(dict(sorted(items.items())))
