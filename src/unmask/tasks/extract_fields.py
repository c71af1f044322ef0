"""Field data of the extraction task: keys, kinds, vocabularies and sentence phrasings.

Slots of a phrasing: ``{s}`` is the person the text is about as a sentence's
subject, ``{p}`` the same person as a possessive, ``{v}`` the value. The last
quarter of each pool is test-only, so its words must occur in trained phrasings.
Vocabularies are disjoint, so that a word belongs to one field only.
"""

from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import TypeAlias

Value: TypeAlias = str | int | bool | tuple[str, ...]
LIST_SIZES = (2, 3, 4)


class Kind(StrEnum):
    """What a field's value is and how it is drawn."""

    NAME = "name"
    WORD = "word"
    INT = "int"
    BOOL = "bool"
    LIST = "list"

    @property
    def notation(self) -> str:
        """How a schema writes the type."""
        match self:
            case Kind.NAME | Kind.WORD:
                return "str"
            case Kind.LIST:
                return "[str]"
            case _:
                return self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One leaf field. ``denied`` holds the phrasings of a false boolean."""

    key: str
    kind: Kind
    phrasings: tuple[str, ...]
    denied: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    low: int = 0
    high: int = 0
    # A sentence that brings in another person makes a later pronoun ambiguous.
    other_person: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A nested object: its key and the leaf fields it may hold."""

    key: str
    fields: tuple[Field, ...]


def _name(key: str, *phrasings: str, person: bool = False) -> Field:
    return Field(key=key, kind=Kind.NAME, phrasings=phrasings, other_person=person)


def _int(key: str, low: int, high: int, *phrasings: str, person: bool = False) -> Field:
    return Field(key=key, kind=Kind.INT, phrasings=phrasings, low=low, high=high, other_person=person)


def _word(key: str, words: str, *phrasings: str) -> Field:
    return Field(key=key, kind=Kind.WORD, phrasings=phrasings, words=tuple(words.split()))


def _list(key: str, words: str, *phrasings: str) -> Field:
    return Field(key=key, kind=Kind.LIST, phrasings=phrasings, words=tuple(words.split()))


NAME = _name("name", "this is {v}", "meet {v}", "the file is about {v}", "this file is about {v}")

CITY = _name("city", "{s} lives in {v}", "{p} home is in {v}", "{p} city is {v}", "{p} home city is {v}")
STREET = _name(
    "street",
    "{p} house is on {v} street",
    "{s} has a house on {v} street",
    "{p} street is called {v}",
    "{p} home is on {v} street",
)
ROOM = _int(
    "room", 1, 999, "{s} stays in room {v}", "{p} room is number {v}", "{s} has room {v}", "{p} room number is {v}"
)
JOB = _word(
    "job",
    "baker smith farmer sailor tailor doctor nurse painter miner pilot judge cook",
    "{s} works as a {v}",
    "{p} job is {v}",
    "{s} is a {v}",
    "{s} has a job as a {v}",
)
BOSS = _name(
    "boss", "{p} boss is {v}", "{s} works for {v}", "{p} boss is called {v}", "{s} has a boss called {v}", person=True
)
PAY = _int(
    "pay", 1, 999, "{s} earns {v} coins", "{p} pay is {v} coins", "{s} earns {v} coins a week", "{p} pay is {v} a week"
)

OTHER_FIELDS = (
    _int("age", 1, 99, "{s} is {v} years old", "{p} age is {v}", "{s} is now {v} years old", "{p} age is now {v}"),
    _name(
        "friend",
        "{p} friend is {v}",
        "{s} has a friend called {v}",
        "{p} best friend is {v}",
        "{p} friend is called {v}",
        person=True,
    ),
    _name(
        "teacher",
        "{p} teacher is {v}",
        "{s} learns from {v}",
        "{p} teacher is called {v}",
        "{s} has a teacher called {v}",
        person=True,
    ),
    _int(
        "price",
        1,
        999,
        "{p} ticket costs {v} coins",
        "{s} has a ticket for {v} coins",
        "the price of {p} ticket is {v}",
        "{p} ticket price is {v} coins",
    ),
    _int(
        "year",
        100,
        999,
        "{s} came here in the year {v}",
        "{s} came here in {v}",
        "{p} year of arrival is {v}",
        "{s} came in the year {v}",
    ),
    _word(
        "color",
        "red blue green yellow black white brown pink purple gray violet beige",
        "{s} wears a {v} coat",
        "{p} favorite color is {v}",
        "{s} likes the color {v}",
        "{p} color is {v}",
    ),
    _word(
        "mood",
        "happy sad angry calm tired proud bored nervous cheerful lonely curious gloomy",
        "{s} feels {v}",
        "{p} mood is {v}",
        "{s} is in a {v} mood",
        "{s} feels {v} now",
    ),
    _word(
        "metal",
        "iron gold silver copper tin zinc lead nickel bronze steel brass cobalt",
        "{p} ring is made of {v}",
        "{s} wears a ring of {v}",
        "{p} metal is {v}",
        "{s} has a ring made of {v}",
    ),
    _word(
        "drink",
        "tea coffee milk water juice cider wine beer cocoa soda lemonade broth",
        "{s} drinks {v}",
        "{p} favorite drink is {v}",
        "{s} likes to drink {v}",
        "{p} drink is {v}",
    ),
    _word(
        "sport",
        "tennis golf rugby hockey cricket soccer rowing boxing fencing skiing archery judo",
        "{p} sport is {v}",
        "{p} favorite sport is {v}",
        "{s} trains for {v}",
        "{s} likes the sport {v}",
    ),
    Field(
        key="married",
        kind=Kind.BOOL,
        phrasings=("{s} is married", "{s} got married", "{s} is a married person", "{s} is now married"),
        denied=("{s} is not married", "{s} never got married", "{s} is not a married person", "{s} is not yet married"),
    ),
    Field(
        key="member",
        kind=Kind.BOOL,
        phrasings=(
            "{s} is a member",
            "{s} is a club member",
            "{s} is a member of the club",
            "{s} is now a member of the club",
        ),
        denied=(
            "{s} is not a member",
            "{s} is not a club member",
            "{s} is not yet a member",
            "{s} is not a member of the club",
        ),
    ),
)

LIST_FIELDS = (
    _list(
        "tools",
        "hammer saw axe rope drill shovel ladder knife lamp rake wrench chisel",
        "{s} carries {v}",
        "{p} tools are {v}",
        "{s} has the tools {v}",
        "{s} carries the tools {v}",
    ),
    _list(
        "foods",
        "bread rice cheese soup beans fish eggs pasta honey salad nuts butter",
        "{s} eats {v}",
        "{p} favorite foods are {v}",
        "{s} likes to eat {v}",
        "{p} foods are {v}",
    ),
    _list(
        "pets",
        "dogs cats parrots rabbits hamsters goats turtles ponies canaries ferrets geckos goldfish",
        "{s} keeps {v}",
        "{p} pets are {v}",
        "{s} has the pets {v}",
        "{s} keeps the pets {v}",
    ),
)

OWNER_NAME = _name(
    "name",
    "the owner is called {v}",
    "the owner is {v}",
    "the name of the owner is {v}",
    "the owner of the house is called {v}",
    person=True,
)
OWNER_AGE = _int(
    "age",
    1,
    99,
    "the owner is {v} years old",
    "the age of the owner is {v}",
    "the owner is now {v} years old",
    "the owner of the house is {v} years old",
    person=True,
)

GROUPS = (
    Group(key="home", fields=(CITY, STREET, ROOM)),
    Group(key="work", fields=(JOB, BOSS, PAY)),
    Group(key="owner", fields=(OWNER_NAME, OWNER_AGE)),
)
# Fields that may stand at the top level; the owner's exist only in their group.
PLAIN_FIELDS = (NAME, CITY, STREET, ROOM, JOB, BOSS, PAY, *OTHER_FIELDS)

INSTRUCTIONS = (
    "extract {schema} from: {text}",
    "from: {text}\nfill {schema}",
    "read the text and fill {schema}\ntext: {text}",
    "{text}\nextract {schema} from the text",
    "text: {text}\nanswer as json {schema}",
    "fill {schema} from the text: {text}",
    "answer as json {schema} from: {text}",
    "text: {text}\nread the text and extract {schema}",
)
# What the text calls a person whose name it does not give.
NAMELESS = ("the guest", "the customer")
PRONOUNS = (("she", "her"), ("he", "his"))


def draw_value(rng: Random, field: Field) -> Value:
    """Draw a value of any field that is not name-valued."""
    match field.kind:
        case Kind.INT:
            return rng.randint(field.low, field.high)
        case Kind.BOOL:
            return rng.choice((False, True))
        case Kind.LIST:
            return tuple(rng.sample(field.words, rng.choice(LIST_SIZES)))
        case _:
            return rng.choice(field.words)


def spoken(value: Value) -> str:
    """Write a value as a sentence says it."""
    if isinstance(value, tuple):
        return f"{', '.join(value[:-1])} and {value[-1]}"
    return str(value)
