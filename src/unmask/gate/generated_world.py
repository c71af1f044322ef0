"""Worlds made up for a generated suite, of what the embedded models were trained on and of names that they were not.

A world has persons, the places they live in and the guilds they serve. Slots and vocabulary are the dialogue task's;
names are those that the task keeps for its test split. Some persons have a look-alike, whose name differs in one piece
and whose facts are taken for theirs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from unmask.cards import SLOTS
from unmask.knowledge.digest import digest_of
from unmask.knowledge.world import (
    Entity,
    EntityType,
    Misconception,
    Origin,
    Slot,
    Statement,
    Validity,
    ValueKind,
    World,
)
from unmask.tasks.dialogue_phrases import ASKED_SLOTS, PERSON_SLOTS, SLOT_NOUNS, SLOT_WORDS
from unmask.tasks.item import Split
from unmask.tasks.names import PIECES, draw_name, is_held_out

LANGUAGE = "en"
PERSON, PLACE, GUILD = "person", "place", "guild"
PERSONS = 12
PLACES = (2, 3, 4)
GUILDS = (1, 2, 3)
LOOK_ALIKE_PAIRS = 3
PERSON_SLOTS_HELD = (2, 3)
OTHER_SLOTS_HELD = (4, 5, 6)
STRAY_SHARE = 0.25
"""Of persons about whom something false is believed that no scenario asks about."""
IDENTITY_SLOTS = ("role", "persona")
PERSONA_ASKED_BY = ("manner",)
_ORIGIN = Origin(file="generated", line=1)
_NOW = Validity()


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeWorld:
    """A world with what its scenarios are drawn from.

    Attributes:
        persons: ids of its persons.
        asked: ids of the misconceptions of each person that scenarios ask about.
    """

    world: World
    persons: tuple[str, ...]
    asked: Mapping[str, tuple[str, ...]]

    def facts(self, person: str) -> dict[str, Statement]:
        """Return what holds of a person, by slot; the persona is among it."""
        return {fact.slot: fact for fact in self.world.statements.values() if fact.subject == person}


def make_world(rng: Random, world_id: str, asked_misconceptions: Sequence[int]) -> "MadeWorld":
    """Draw a world of `PERSONS` persons.

    Args:
        rng: draws all of it.
        world_id: its id.
        asked_misconceptions: how many misconceptions scenarios ask about, for each person in turn.
    """
    board = _Board(rng)
    persons = board.people(PERSONS)
    places = board.others(PLACE, rng.choice(PLACES))
    guilds = board.others(GUILD, rng.choice(GUILDS))
    for person in persons:
        board.describe(person, persons, places, guilds)
    asked = {}
    for person, count in zip(persons, asked_misconceptions, strict=True):
        made = board.misconceptions(person, count + (rng.random() < STRAY_SHARE))
        asked[person] = tuple(made[:count])
    world = World(
        id=world_id,
        title=f"Made-up world {world_id}",
        languages=(LANGUAGE,),
        types=TYPES,
        words={word: {LANGUAGE: word} for words in SLOT_WORDS.values() for word in words},
        entities=board.entities,
        statements=board.statements,
        misconceptions=board.believed,
        digest="",
    )
    world = replace(world, digest=digest_of(world))
    return MadeWorld(world=world, persons=tuple(persons), asked=asked)


def wrong_values(world: World, fact: Statement) -> list[str]:
    """Return what a slot of a person could hold and does not.

    Nothing that holds of the person in any slot is among it, nor the person, nor what is believed of it already: an
    answer that says one of these says something else that is true, or was warned.
    """
    return _wrong_values(fact, world.entities, world.statements, world.misconceptions)


def _wrong_values(
    fact: Statement,
    entities: Mapping[str, Entity],
    statements: Mapping[str, Statement],
    believed: Mapping[str, Misconception],
) -> list[str]:
    own = {other.value for other in statements.values() if other.subject == fact.subject}
    own |= {wrong.claimed for wrong in believed.values() if wrong.subject == fact.subject}
    own.add(fact.subject)
    slot = TYPES[PERSON].slots[fact.slot]
    if slot.kind is ValueKind.WORD:
        return [word for word in SLOT_WORDS[fact.slot] if word not in own]
    return [one for one, entity in entities.items() if entity.type in slot.refers_to and one not in own]


def _slot(name: str) -> Slot:
    refers_to = {"home": (PLACE,), "affiliation": (GUILD,)} | dict.fromkeys(PERSON_SLOTS, (PERSON,))
    return Slot(
        name=name,
        kind=ValueKind.WORD if name in SLOT_WORDS else ValueKind.ENTITY,
        refers_to=refers_to.get(name, ()),
        identity=name in IDENTITY_SLOTS,
        asked_by={LANGUAGE: SLOT_NOUNS.get(name, PERSONA_ASKED_BY)},
    )


TYPES: Mapping[str, EntityType] = {
    PERSON: EntityType(name=PERSON, slots={name: _slot(name) for name in SLOTS}),
    PLACE: EntityType(name=PLACE, slots={}),
    GUILD: EntityType(name=GUILD, slots={}),
}


class _Board:
    """A world while it is drawn."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.entities: dict[str, Entity] = {}
        self.statements: dict[str, Statement] = {}
        self.believed: dict[str, Misconception] = {}
        self.like: dict[str, str] = {}

    def people(self, count: int) -> list[str]:
        """Add persons, some pairs of them look-alikes."""
        persons: list[str] = []
        for _ in range(LOOK_ALIKE_PAIRS):
            pair = [self._enter(PERSON, name) for name in self._look_alikes()]
            self.like |= dict(zip(pair, reversed(pair), strict=True))
            persons += pair
        persons += self.others(PERSON, count - len(persons))
        self.rng.shuffle(persons)
        return persons

    def others(self, kind: str, count: int) -> list[str]:
        """Add entities of a kind."""
        return [self._enter(kind, self._new_name()) for _ in range(count)]

    def describe(self, person: str, persons: Sequence[str], places: Sequence[str], guilds: Sequence[str]) -> None:
        """Say of a person some of what may be said, so that some slots stay unknown, and always its persona."""
        rng = self.rng
        known = rng.sample(PERSON_SLOTS, rng.choice(PERSON_SLOTS_HELD))
        rest = [slot for slot in ASKED_SLOTS if slot not in PERSON_SLOTS]
        known += rng.sample(rest, rng.choice(OTHER_SLOTS_HELD))
        others = rng.sample([other for other in persons if other != person], len(PERSON_SLOTS))
        pools: dict[str, Sequence[str]] = {"home": places, "affiliation": guilds}
        for slot in (name for name in SLOTS if name in known or name == "persona"):
            # A person is one thing to another: a rival is no mentor.
            value = others.pop() if slot in PERSON_SLOTS else rng.choice(pools.get(slot) or SLOT_WORDS[slot])
            self.statements[f"{person}.{slot}"] = Statement(
                id=f"{person}.{slot}", subject=person, slot=slot, value=value, validity=_NOW, origin=_ORIGIN
            )

    def misconceptions(self, person: str, count: int) -> list[str]:
        """Add what is wrongly believed of a person, each on another slot; a look-alike's fact where there is one."""
        facts = [fact for fact in self.statements.values() if fact.subject == person and fact.slot != "persona"]
        made: list[str] = []
        for fact in self.rng.sample(facts, len(facts)):
            wrong, other = self._believable(fact)
            if wrong is None or len(made) == count:
                continue
            record = f"{person}-not-{fact.slot}"
            self.believed[record] = Misconception(
                id=record,
                subject=person,
                confused_with=other,
                slot=fact.slot,
                claimed=wrong,
                correction=(fact.id,),
                triggers={},
                origin=_ORIGIN,
            )
            made.append(record)
        return made

    def wrong_values(self, fact: Statement) -> list[str]:
        """Return what the slot could hold and does not."""
        return _wrong_values(fact, self.entities, self.statements, self.believed)

    def _believable(self, fact: Statement) -> tuple[str | None, str | None]:
        wrong = self.wrong_values(fact)
        other = self.like.get(fact.subject)
        theirs = self.statements.get(f"{other}.{fact.slot}")
        if theirs is not None and theirs.value in wrong:
            return theirs.value, other
        return self.rng.choice(wrong) if wrong else None, None

    def _enter(self, kind: str, name: str) -> str:
        key = name.lower()
        self.entities[key] = Entity(id=key, type=kind, names={LANGUAGE: name}, aliases={}, origin=_ORIGIN)
        return key

    def _new_name(self) -> str:
        while True:
            name = draw_name(self.rng, Split.TEST)
            if name.lower() not in self.entities:
                return name

    def _look_alikes(self) -> tuple[str, str]:
        """Draw two names that differ in their last piece."""
        while True:
            start = "".join(self.rng.choices(PIECES, k=2))
            names = [(start + piece).capitalize() for piece in self.rng.sample(PIECES, 20)]
            free = [name for name in names if is_held_out(name) and name.lower() not in self.entities]
            if len(free) > 1:
                return free[0], free[1]
