"""Worlds written as the folders that `unmask.knowledge.files.read_world` reads."""

from pathlib import Path

from unmask.config.strict_yaml import dump_yaml
from unmask.knowledge.world import (
    Entity,
    EntityType,
    Misconception,
    Phrases,
    Slot,
    Statement,
    Validity,
    ValueKind,
    World,
)


def write_world(world: World, folder: Path) -> None:
    """Write a world into a folder of its own; read back it has the same digest.

    Raises:
        OSError: the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files: dict[str, object] = {
        "world.yaml": _head(world),
        "entities.yaml": {key: _entity(world, entity) for key, entity in world.entities.items()},
    }
    if world.misconceptions:
        files["misconceptions.yaml"] = [_misconception(world, found) for found in world.misconceptions.values()]
    for name, content in files.items():
        (folder / name).write_text(dump_yaml(content), encoding="utf-8")


def _head(world: World) -> dict[str, object]:
    return {
        "id": world.id,
        "title": world.title,
        "languages": list(world.languages),
        **({"times": list(world.times)} if world.times else {}),
        "types": {name: {"slots": _slots(found)} for name, found in world.types.items()},
        "words": {key: dict(texts) for key, texts in world.words.items()},
    }


def _slots(found: EntityType) -> dict[str, object]:
    return {name: _slot(slot) for name, slot in found.slots.items()}


def _slot(slot: Slot) -> dict[str, object]:
    return {
        "kind": slot.kind.value,
        **({"many": True} if slot.many else {}),
        **({"refers_to": list(slot.refers_to)} if slot.refers_to else {}),
        **({"identity": True} if slot.identity else {}),
        "asked_by": _phrases(slot.asked_by),
    }


def _entity(world: World, entity: Entity) -> dict[str, object]:
    told: dict[str, list[Statement]] = {}
    for statement in world.statements.values():
        if statement.subject == entity.id:
            told.setdefault(statement.slot, []).append(statement)
    slots = {name: _values(world, statements) for name, statements in told.items()}
    return {
        "type": entity.type,
        "names": dict(entity.names),
        **({"aliases": _phrases(entity.aliases)} if entity.aliases else {}),
        **_note(entity.origin.note),
        **({"slots": slots} if slots else {}),
    }


def _values(world: World, statements: list[Statement]) -> object:
    values = [_value(world, statement) for statement in statements]
    return values[0] if len(values) == 1 else values


def _value(world: World, statement: Statement) -> object:
    value = _plain(world, statement.subject, statement.slot, statement.value)
    more = _validity(statement.validity) | _note(statement.origin.note)
    return {"value": value} | more if more else value


def _plain(world: World, subject: str, slot: str, value: str) -> object:
    if world.slot_of(subject, slot).kind is ValueKind.NUMBER:
        return float(value) if not value.lstrip("-").isdecimal() else int(value)
    return value


def _validity(validity: Validity) -> dict[str, object]:
    given = {"since": validity.since, "until": validity.until}
    return {name: time for name, time in given.items() if time is not None}


def _misconception(world: World, found: Misconception) -> dict[str, object]:
    return {
        "id": found.id,
        "subject": found.subject,
        **({} if found.confused_with is None else {"confused_with": found.confused_with}),
        "slot": found.slot,
        "claimed": _plain(world, found.subject, found.slot, found.claimed),
        "correction": list(found.correction),
        **({"triggers": _phrases(found.triggers)} if found.triggers else {}),
        **_note(found.origin.note),
    }


def _note(note: str) -> dict[str, object]:
    return {"note": note} if note else {}


def _phrases(phrases: Phrases) -> dict[str, list[str]]:
    return {language: list(texts) for language, texts in phrases.items()}
