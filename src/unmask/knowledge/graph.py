"""A world's statements by what a walk over them asks for."""

from collections import defaultdict
from collections.abc import Iterable

from unmask.knowledge.world import Misconception, Statement, ValueKind, World


class Graph:
    """Statements by subject, slot and value; entities by who is next to them."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._of: dict[str, list[Statement]] = defaultdict(list)
        self._by_slot: dict[tuple[str, str], list[Statement]] = defaultdict(list)
        self._leading_to: dict[str, list[Statement]] = defaultdict(list)
        self._saying: dict[str, list[Statement]] = defaultdict(list)
        self._believed: dict[str, list[Misconception]] = defaultdict(list)
        for statement in world.statements.values():
            self._of[statement.subject].append(statement)
            self._by_slot[statement.subject, statement.slot].append(statement)
            into = self._leading_to if self.is_edge(statement) else self._saying
            into[statement.value].append(statement)
        for misconception in world.misconceptions.values():
            self._believed[misconception.subject].append(misconception)

    def is_edge(self, statement: Statement | Misconception) -> bool:
        """Tell whether the value is an entity."""
        return self.world.slot_of(statement.subject, statement.slot).kind is ValueKind.ENTITY

    def has_slot(self, entity: str, slot: str) -> bool:
        """Tell whether an entity's type has a slot."""
        return slot in self.world.types[self.world.entities[entity].type].slots

    def of(self, entity: str) -> tuple[Statement, ...]:
        """Return what holds or held of an entity."""
        return tuple(self._of.get(entity, ()))

    def values(self, entity: str, slot: str, *, past: bool = False) -> tuple[Statement, ...]:
        """Return the statements on a slot: the current ones; with ``past``, or where none is current, all of them."""
        found = self._by_slot.get((entity, slot), ())
        current = tuple(statement for statement in found if statement.validity.is_current)
        return tuple(found) if past or not current else current

    def leading_to(self, entity: str) -> tuple[Statement, ...]:
        """Return the statements whose value is an entity."""
        return tuple(self._leading_to.get(entity, ()))

    def saying(self, value: str) -> tuple[Statement, ...]:
        """Return the statements whose value is a word, text or number."""
        return tuple(self._saying.get(value, ()))

    def believed_of(self, entity: str) -> tuple[Misconception, ...]:
        """Return what is wrongly believed of an entity."""
        return tuple(self._believed.get(entity, ()))

    def identity(self, entity: str) -> tuple[Statement, ...]:
        """Return the current statements that say who an entity is, in the order of its type's slots."""
        slots = self.world.types[self.world.entities[entity].type].slots.values()
        return tuple(
            statement
            for slot in slots
            if slot.identity
            for statement in self.values(entity, slot.name)
            if statement.validity.is_current
        )

    def neighbours(self, entity: str) -> frozenset[str]:
        """Return the entities that a statement joins an entity to, in either direction."""
        forth = {statement.value for statement in self._of.get(entity, ()) if self.is_edge(statement)}
        back = {statement.subject for statement in self._leading_to.get(entity, ())}
        return frozenset(forth | back)

    def between(self, one: str, other: str) -> tuple[Statement, ...]:
        """Return the current statements that join two entities, and those by which both have the same value."""
        direct = [
            statement
            for subject, value in ((one, other), (other, one))
            for statement in self._of.get(subject, ())
            if statement.value == value and self.is_edge(statement)
        ]
        said = {(statement.slot, statement.value) for statement in _current(self._of.get(one, ()))}
        shared = {
            (statement.slot, statement.value)
            for statement in _current(self._of.get(other, ()))
            if (statement.slot, statement.value) in said
        }
        common = [
            statement
            for entity in (one, other)
            for statement in _current(self._of.get(entity, ()))
            if (statement.slot, statement.value) in shared
        ]
        return tuple(_current([*direct, *common]))


def _current(statements: Iterable[Statement]) -> Iterable[Statement]:
    return [statement for statement in statements if statement.validity.is_current]
