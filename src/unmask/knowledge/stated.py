"""Statements out of the slots of entities."""

from collections.abc import Iterator, Mapping

from unmask.config.placed_yaml import Key
from unmask.errors import shown
from unmask.knowledge.errors import Fault
from unmask.knowledge.folder import Part
from unmask.knowledge.schema import EntityDocument, ValueDocument
from unmask.knowledge.values import MisfitError, Values
from unmask.knowledge.world import EntityType, Origin, Slot, Statement, Validity, ValueKind


def build_statements(
    entities: Mapping[str, tuple[Part, EntityDocument]],
    types: Mapping[str, EntityType],
    values: Values,
    faults: list[Fault],
) -> dict[str, Statement]:
    """Build every statement by its id."""
    statements: dict[str, Statement] = {}
    for part, found in entities.values():
        if found.type not in types:
            continue
        slots = types[found.type].slots
        for name, documents in found.slots.items():
            if name not in slots:
                allowed = ", ".join(slots) or "none"
                faults.append(part.fault(f"{found.type} has no slot {shown(name)}; allowed: {allowed}", "slots", name))
                continue
            for statement in _of_slot(part, slots[name], documents, values, faults):
                statements[statement.id] = statement
    return statements


def _of_slot(
    part: Part, slot: Slot, documents: list[ValueDocument], values: Values, faults: list[Fault]
) -> list[Statement]:
    statements: list[Statement] = []
    current: set[str] = set()
    for index, document in enumerate(documents):
        path = ("slots", slot.name, index)
        validity = Validity(since=document.since, until=document.until)
        faults += [part.fault(f"{part.key}: {slot.name}: {problem}", *path) for problem in values.misfits(validity)]
        try:
            value = values.written(slot, document.value)
        except MisfitError as error:
            faults.append(part.fault(f"{part.key}: {error}", *path))
            continue
        if validity.is_current:
            faults += _cardinality(part, slot, value, current, path)
            current.add(value)
        name = _id(part.key, slot, value, index, validity)
        while any(statement.id == name for statement in statements):
            name += ".again"
        origin = Origin(file=part.file, line=part.placed.line_at(path), note=document.note or "")
        statements.append(
            Statement(id=name, subject=part.key, slot=slot.name, value=value, validity=validity, origin=origin)
        )
    return statements


def _cardinality(part: Part, slot: Slot, value: str, current: set[str], path: tuple[Key, ...]) -> Iterator[Fault]:
    if value in current:
        yield part.fault(f"{part.key}: {slot.name} is {shown(value)} twice", *path)
    elif current and not slot.many:
        both = f"{min(current)} and {value}"
        yield part.fault(f"{part.key}: {slot.name} holds one value at a time, and {both} are current", *path)


def _id(subject: str, slot: Slot, value: str, index: int, validity: Validity) -> str:
    """Name a statement by what stays when others are added.

    ``subject.slot`` is the present value of a slot that holds one. All others have the value in their name, or, where
    that is a text or number, its place in the list from 1.
    """
    if validity.is_current and not slot.many:
        return f"{subject}.{slot.name}"
    named = slot.kind in {ValueKind.ENTITY, ValueKind.WORD}
    return f"{subject}.{slot.name}.{value if named else index + 1}"
