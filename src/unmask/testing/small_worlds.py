"""Small worlds in English and Korean: two people of one alias, look-alikes, something that ended, misconceptions."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

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

NOWHERE = Origin(file="small_worlds.py", line=1)


def make_slot(name: str, kind: ValueKind, en: str = "", ko: str = "", **changes: object) -> Slot:
    """Return a slot; what asks for it are phrases apart by commas."""
    asked_by = {"en": _phrases(en), "ko": _phrases(ko)}
    return replace(Slot(name=name, kind=kind, asked_by=asked_by), **changes)  # type: ignore[arg-type] # any field


def make_entity(id_: str, type_: str, en: str, ko: str, /, **aliases: str) -> Entity:
    """Return an entity; aliases by language are apart by commas."""
    phrases = {language: _phrases(texts) for language, texts in aliases.items()}
    return Entity(id=id_, type=type_, names={"en": en, "ko": ko}, aliases=phrases, origin=NOWHERE)


def make_statement(
    subject: str, slot: str, value: str, *, since: str | None = None, until: str | None = None
) -> Statement:
    """Return a statement whose id is ``subject.slot``, with the value where it does not hold now."""
    id_ = f"{subject}.{slot}" if until is None else f"{subject}.{slot}.{value}"
    validity = Validity(since=since, until=until)
    return Statement(id=id_, subject=subject, slot=slot, value=value, validity=validity, origin=NOWHERE)


def make_misconception(
    subject: str, slot: str, claimed: str, correction: str, confused_with: str | None = None, **triggers: str
) -> Misconception:
    """Return a misconception whose id is ``subject.slot.not``; triggers by language are apart by commas."""
    return Misconception(
        id=f"{subject}.{slot}.not",
        subject=subject,
        confused_with=confused_with,
        slot=slot,
        claimed=claimed,
        correction=(correction,),
        triggers={language: _phrases(texts) for language, texts in triggers.items()},
        origin=NOWHERE,
    )


def make_types() -> Mapping[str, EntityType]:
    """Return people and places."""
    people = ("person",)
    person = (
        make_slot("role", ValueKind.WORD, "role,duty,who is,who are", "역할,직업,누구", identity=True),
        make_slot("persona", ValueKind.WORD, "manner,temper", "성격,말투"),
        make_slot("home", ValueKind.ENTITY, "home,live,where from", "고향,집,어디 살,사는 곳", refers_to=("place",)),
        make_slot("ally", ValueKind.ENTITY, "ally,friend", "동료,친구", refers_to=people, many=True),
        make_slot("rival", ValueKind.ENTITY, "rival,enemy", "숙적,라이벌", refers_to=people),
        make_slot("mentor", ValueKind.ENTITY, "mentor,teacher,taught", "스승,가르쳤", refers_to=people),
        make_slot("sealed_by", ValueKind.ENTITY, "sealed,seal,sealer", "봉인", refers_to=people, many=True),
        make_slot("craft", ValueKind.WORD, "craft,trade", "기술,솜씨"),
        make_slot("age", ValueKind.NUMBER, "age,old are", "나이,몇 살"),
    )
    place = (
        make_slot("state", ValueKind.WORD, "state,condition", "상태", identity=True),
        make_slot("possession", ValueKind.TEXT, "treasure,hold", "보물"),
    )
    return {
        "person": EntityType(name="person", slots={slot.name: slot for slot in person}),
        "place": EntityType(name="place", slots={slot.name: slot for slot in place}),
    }


WORDS: Mapping[str, Mapping[str, str]] = {
    "keeper": {"en": "keeper", "ko": "파수꾼"},
    "smith": {"en": "smith", "ko": "대장장이"},
    "healer": {"en": "healer", "ko": "치료사"},
    "villain": {"en": "villain", "ko": "악당"},
    "hero": {"en": "hero", "ko": "영웅"},
    "gruff": {"en": "gruff", "ko": "퉁명스러움"},
    "gentle": {"en": "gentle", "ko": "다정함"},
    "weaving": {"en": "weaving", "ko": "직조"},
    "ruined": {"en": "ruined", "ko": "폐허"},
    "quiet": {"en": "quiet", "ko": "고요함"},
}


def make_world(
    entities: Iterable[Entity],
    statements: Iterable[Statement],
    misconceptions: Iterable[Misconception] = (),
    *,
    words: Mapping[str, Mapping[str, str]] | None = None,
) -> World:
    """Return a world of people and places."""
    world = World(
        id="small",
        title="A small world",
        languages=("en", "ko"),
        times=("the Old Age", "the New Age"),
        types=make_types(),
        words=WORDS if words is None else words,
        entities={entity.id: entity for entity in entities},
        statements={statement.id: statement for statement in statements},
        misconceptions={found.id: found for found in misconceptions},
        digest="",
    )
    return replace(world, digest=digest_of(world))


def small_world() -> World:
    """Return a dozen people and places with everything that retrieval has to tell apart."""
    return make_world(_entities(), _statements(), _misconceptions())


def _entities() -> tuple[Entity, ...]:
    return (
        make_entity("jungwoo", "person", "Jungwoo", "정우"),
        make_entity("kaelis", "person", "Kaelis", "카엘리스", en="the Grey,Kael", ko="회색인"),
        make_entity("kaelin", "person", "Kaelin", "카엘린", en="the Grey", ko="회색인"),
        make_entity("haeun", "person", "Haeun", "하은"),
        make_entity("ha", "person", "Ha", "하"),
        make_entity("vorn", "person", "Old Vorn", "늙은 보른", en="Vorn", ko="보른"),
        make_entity("sera", "person", "Sera", "세라"),
        make_entity("tulven", "person", "Tulven", "툴벤"),
        make_entity("will", "person", "Will", "윌"),
        make_entity("miven", "place", "Miven", "미벤"),
        make_entity("dorasen", "place", "Dorasen", "도라센"),
        make_entity("vael", "place", "Vael's Keep", "바엘 성"),
    )


def _statements() -> tuple[Statement, ...]:
    said = make_statement
    return (
        said("jungwoo", "role", "keeper"),
        said("jungwoo", "persona", "gruff"),
        said("jungwoo", "home", "miven"),
        said("jungwoo", "ally", "kaelis"),
        said("jungwoo", "rival", "tulven"),
        said("jungwoo", "age", "41"),
        said("kaelis", "role", "healer"),
        said("kaelis", "home", "dorasen"),
        said("kaelis", "mentor", "sera"),
        said("kaelis", "craft", "weaving"),
        said("kaelin", "role", "smith"),
        said("kaelin", "home", "vael"),
        said("haeun", "role", "healer"),
        said("haeun", "home", "miven"),
        said("ha", "role", "smith"),
        said("sera", "role", "hero"),
        said("sera", "home", "vael"),
        said("tulven", "role", "smith"),
        said("tulven", "ally", "vorn"),
        said("vorn", "role", "villain"),
        said("vorn", "sealed_by", "sera", until="the New Age"),
        said("vorn", "sealed_by", "haeun", since="the New Age"),
        said("will", "role", "keeper"),
        said("miven", "state", "quiet"),
        said("dorasen", "state", "ruined"),
        said("vael", "possession", "the ember blade"),
    )


def _misconceptions() -> tuple[Misconception, ...]:
    return (
        make_misconception("jungwoo", "rival", "kaelin", "jungwoo.rival", en="betrayed by your own kin"),
        make_misconception("kaelis", "role", "smith", "kaelis.role", "kaelin", en="at the forge", ko="대장간에서"),
    )


def _phrases(texts: str) -> tuple[str, ...]:
    return tuple(text.strip() for text in texts.split(",") if text.strip())


def large_world(entities: int = 10_000) -> World:
    """Return a world of so many people and places, with names of one and two words, in which every fact is regular.

    Person ``n`` lives in place ``n % places``, and person ``n + 1`` is their ally.
    """
    places = entities // 10
    people = entities - places
    found = [make_entity(f"p{n}", "place", f"Port {_word(n)}", f"항구 {_syllables(n)}") for n in range(places)]
    found += [make_entity(f"e{n}", "person", f"{_word(n)} the {n}th", f"{_syllables(n)}{n}호") for n in range(people)]
    roles = ("keeper", "smith", "healer", "hero")
    statements = [make_statement(f"p{n}", "state", ("quiet", "ruined")[n % 2]) for n in range(places)]
    for n in range(people):
        statements += [
            make_statement(f"e{n}", "role", roles[n % 4]),
            make_statement(f"e{n}", "persona", ("gruff", "gentle")[n % 2]),
            make_statement(f"e{n}", "home", f"p{n % places}"),
            make_statement(f"e{n}", "ally", f"e{(n + 1) % people}"),
            make_statement(f"e{n}", "age", str(n)),
        ]
    return make_world(found, statements)


def _word(number: int) -> str:
    letters = ""
    while True:
        number, rest = divmod(number, 100)
        letters = f"{'bcdfghklmnprstvwxyzj'[rest // 5]}{'aeiou'[rest % 5]}{letters}"
        if not number:
            return letters.title()


def _syllables(number: int) -> str:
    return chr(0xAC00 + (number * 37) % 11172) + chr(0xAC00 + (number * 101) % 11172)
