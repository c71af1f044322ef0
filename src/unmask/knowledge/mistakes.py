"""Misconceptions out of their file."""

from collections.abc import Iterator, Mapping, Sequence

from unmask.errors import shown
from unmask.knowledge.errors import Fault
from unmask.knowledge.folder import Part
from unmask.knowledge.langs import Languages, phrases_of
from unmask.knowledge.schema import MisconceptionDocument
from unmask.knowledge.values import MisfitError, Values
from unmask.knowledge.world import EntityType, Misconception, Origin, Statement


def build_misconceptions(
    sources: Sequence[tuple[Part, MisconceptionDocument | None]],
    types: Mapping[str, EntityType],
    values: Values,
    statements: Mapping[str, Statement],
    languages: Languages,
    faults: list[Fault],
) -> dict[str, Misconception]:
    """Build every misconception by its id."""
    built: dict[str, Misconception] = {}
    for part, found in sources:
        if found is None:
            continue
        if found.id in built or found.id in statements:
            faults.append(part.fault(f"the id {shown(found.id)} is taken already", "id"))
        faults += languages.check_phrases(part, found.triggers, ("triggers",))
        faults += _references(part, found, values, statements)
        claimed = _claimed(part, found, types, values, faults)
        if claimed is None:
            continue
        faults += _truth(part, found, claimed, statements)
        built[found.id] = Misconception(
            id=found.id,
            subject=found.subject,
            confused_with=found.confused_with,
            slot=found.slot,
            claimed=claimed,
            correction=tuple(found.correction),
            triggers=phrases_of(found.triggers),
            origin=Origin(file=part.file, line=part.placed.line, note=found.note or ""),
        )
    return built


def _references(
    part: Part, found: MisconceptionDocument, values: Values, statements: Mapping[str, Statement]
) -> Iterator[Fault]:
    if found.subject not in values.types:
        yield part.fault(f"{found.id}: the subject {shown(found.subject)} is no entity", "subject")
    other = found.confused_with
    if other is not None and other not in values.types:
        yield part.fault(f"{found.id}: confused_with {shown(other)} is no entity", "confused_with")
    if other == found.subject:
        yield part.fault(f"{found.id}: {shown(other)} is confused with itself", "confused_with")
    for index, name in enumerate(found.correction):
        if name not in statements:
            yield part.fault(f"{found.id}: the correction {shown(name)} is no statement", "correction", index)


def _claimed(
    part: Part, found: MisconceptionDocument, types: Mapping[str, EntityType], values: Values, faults: list[Fault]
) -> str | None:
    """Return the false value; ``None`` where it is no value, or where there is no telling."""
    kind = values.types.get(found.subject)
    if kind is None or kind not in types:
        return None
    slots = types[kind].slots
    if found.slot not in slots:
        allowed = ", ".join(slots) or "none"
        faults.append(part.fault(f"{found.id}: {kind} has no slot {shown(found.slot)}; allowed: {allowed}", "slot"))
        return None
    try:
        return values.written(slots[found.slot], found.claimed)
    except MisfitError as error:
        faults.append(part.fault(f"{found.id}: claimed: {error}", "claimed"))
        return None


def _truth(
    part: Part, found: MisconceptionDocument, claimed: str, statements: Mapping[str, Statement]
) -> Iterator[Fault]:
    for name in (f"{found.subject}.{found.slot}", f"{found.subject}.{found.slot}.{claimed}"):
        statement = statements.get(name)
        if statement is not None and statement.value == claimed and statement.validity.is_current:
            yield part.fault(f"{found.id}: what it claims is true, by {name} in {statement.origin.file}", "claimed")
