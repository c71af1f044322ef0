"""What names a world: the SHA-256 of its content."""

from collections.abc import Mapping
from hashlib import sha256

import orjson

from unmask.knowledge.world import Entity, EntityType, Misconception, Slot, Statement, World


def digest_of(world: World) -> str:
    """Return the digest of a world, in hexadecimal.

    Where things are written, in which order, and the notes on where they come from have no part in it; all else has.
    """
    content = {
        "id": world.id,
        "title": world.title,
        "languages": world.languages,
        "times": world.times,
        "words": {key: dict(texts) for key, texts in world.words.items()},
        "types": {name: _type(found) for name, found in world.types.items()},
        "entities": {key: _entity(entity) for key, entity in world.entities.items()},
        "statements": {key: _statement(statement) for key, statement in world.statements.items()},
        "misconceptions": {key: _misconception(found) for key, found in world.misconceptions.items()},
    }
    return sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _phrases(phrases: Mapping[str, tuple[str, ...]]) -> dict[str, list[str]]:
    return {language: list(texts) for language, texts in phrases.items() if texts}


def _type(found: EntityType) -> dict[str, object]:
    return {name: _slot(slot) for name, slot in found.slots.items()}


def _slot(slot: Slot) -> dict[str, object]:
    return {
        "kind": slot.kind.value,
        "many": slot.many,
        "refers_to": list(slot.refers_to),
        "identity": slot.identity,
        "asked_by": _phrases(slot.asked_by),
    }


def _entity(entity: Entity) -> dict[str, object]:
    return {"type": entity.type, "names": dict(entity.names), "aliases": _phrases(entity.aliases)}


def _statement(statement: Statement) -> list[str | None]:
    validity = statement.validity
    return [statement.subject, statement.slot, statement.value, validity.since, validity.until]


def _misconception(found: Misconception) -> dict[str, object]:
    return {
        "subject": found.subject,
        "confused_with": found.confused_with,
        "slot": found.slot,
        "claimed": found.claimed,
        "correction": list(found.correction),
        "triggers": _phrases(found.triggers),
    }
