"""Behaviour of flat records read into worlds."""

import json
from pathlib import Path

import pytest

from unmask.errors import ConfigError
from unmask.knowledge.errors import WorldError
from unmask.knowledge.imported import Imported, write_imported
from unmask.knowledge.mapping import read_mapping
from unmask.knowledge.records import import_records

MAPPING = """\
world: {id: bestiary, title: Bestiary}
type: monster
id: index
names: {en: name, ko: name_ko}
aliases: {en: [aka], ko: [aka_ko]}
note: source
slots:
  kin: {field: type, kind: word, identity: true, asked_by: {en: [kin, kind], ko: [종족]}}
  hit_points: {field: hit_points, kind: number}
  armour: {field: armor_class.0.value, kind: number}
  tongue: {field: languages, kind: word, many: true, separator: ","}
  lore: {field: desc, kind: text, many: true}
  grows_into: {field: grows_into, kind: entity, refers_to: [monster]}
words:
  ko: {dragon: 용, Draconic: 용언}
ignore: [url]
"""


def monster(name: str, **changes: object) -> dict[str, object]:
    """Return a record in the style of a rule book's monsters."""
    base: dict[str, object] = {
        "index": name.lower().replace(" ", "-"), "name": name, "name_ko": f"{name} 용", "type": "dragon",
        "hit_points": 178, "armor_class": [{"type": "natural", "value": 18}], "languages": "Common, Draconic",
        "desc": ["It breathes fire.", "It hoards."], "url": "/x", "source": "chapter 3",
    }  # fmt: skip
    return base | changes


def read(tmp_path: Path, records: object, mapping: str = MAPPING, *, name: str = "monsters.json") -> Imported:
    """Import records as a file."""
    (tmp_path / "map.yaml").write_text(mapping, encoding="utf-8")
    lines = records if isinstance(records, str) else json.dumps(records, ensure_ascii=False)
    (tmp_path / name).write_text(lines, encoding="utf-8")
    return import_records(tmp_path / name, read_mapping(tmp_path / "map.yaml"))


def test_records_become_entities(tmp_path: Path) -> None:
    """Fields become names, aliases, words, numbers, texts and references, each by the mapping."""
    young = monster("Young Red Dragon", grows_into="Adult Red Dragon", aka=["the whelp"], aka_ko="새끼 용")
    world = write_imported(read(tmp_path, [monster("Adult Red Dragon"), young]), tmp_path / "out")

    facts = {key: found.value for key, found in world.statements.items() if found.subject == "young-red-dragon"}
    assert facts == {
        "young-red-dragon.kin": "dragon",
        "young-red-dragon.hit_points": "178",
        "young-red-dragon.armour": "18",
        "young-red-dragon.tongue.common": "common",
        "young-red-dragon.tongue.draconic": "draconic",
        "young-red-dragon.lore.1": "It breathes fire.",
        "young-red-dragon.lore.2": "It hoards.",
        "young-red-dragon.grows_into": "adult-red-dragon",
    }
    entity = world.entities["young-red-dragon"]
    assert entity.aliases == {"en": ("the whelp",), "ko": ("새끼 용",)}
    assert entity.origin.note == "chapter 3"
    assert world.words == {"common": {"en": "Common", "ko": "Common"}, "draconic": {"en": "Draconic", "ko": "용언"},
                           "dragon": {"en": "dragon", "ko": "용"}}  # fmt: skip
    assert world.slot_of("young-red-dragon", "kin").identity
    assert world.slot_of("young-red-dragon", "grows_into").asked_by["ko"] == ("grows into",)


def test_records_may_be_one_a_line_or_by_name(tmp_path: Path) -> None:
    """JSONL and a mapping of records are read like a list."""
    records = [monster("Ogre"), monster("Imp")]
    listed = read(tmp_path, records)

    assert read(tmp_path, {"a": records[0], "b": records[1]}).entities == listed.entities
    lines = "\n\n".join(json.dumps(record) for record in records)
    assert read(tmp_path, lines, name="monsters.jsonl").entities == listed.entities


def test_fields_that_are_not_mapped_are_told(tmp_path: Path) -> None:
    """With how many records have them; those ignored on purpose are not told."""
    found = read(tmp_path, [monster("Ogre", xp=5), monster("Imp", xp=7, lair="den")])

    assert found.notes == ("fields of records, left out: lair (1), xp (2)",)


def test_names_serve_as_ids(tmp_path: Path) -> None:
    """Without an id field, ids are made of names, of any script."""
    records = [monster("Ogre"), monster("오우거", name_ko="오우거")]

    assert list(read(tmp_path, records, MAPPING.replace("id: index\n", "", 1)).entities) == ["ogre", "오우거"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": ""}, "name is ''"),
        ({"name_ko": None}, "name_ko is None"),
        ({"index": "ogre"}, "the id ogre is that of the record at 1"),
        ({"name": "Ogre"}, "the name 'Ogre' is that of the record at 1"),
        ({"hit_points": "many"}, "allowed: a number, for hit_points"),
        ({"type": {"a": 1}}, "lead into it with dots"),
        ({"grows_into": "Nobody"}, "allowed: the id or name of a record"),
        ({"hit_points": [1, 2]}, "map it with many: true"),
        ({"aka": [3]}, "allowed: texts, for aliases"),
        ({"name": "x" * 300}, "names.en"),
    ],
)
def test_a_record_that_does_not_fit_is_told_with_its_line(
    tmp_path: Path, changes: dict[str, object], said: str
) -> None:
    """Nothing of such a file is imported, and every fault is told."""
    records = [monster("Ogre"), monster("Imp") | changes]

    with pytest.raises(WorldError) as caught:
        read(tmp_path, "\n".join(map(json.dumps, records)), name="monsters.jsonl")

    assert [(fault.file, fault.line) for fault in caught.value.faults] == [("monsters.jsonl", 2)]
    assert said in caught.value.faults[0].message


@pytest.mark.parametrize(
    ("records", "said"),
    [("7", "allowed: a list of records"), ("[7]", "record 1 is 7"), ('{"a": 1}', "one mapping"), ("[", "no JSON")],
)
def test_what_holds_no_records_is_refused(tmp_path: Path, records: str, said: str) -> None:
    """Another shape, and broken JSON."""
    with pytest.raises(ConfigError, match=said):
        read(tmp_path, records)


def test_a_line_that_is_no_json_is_told(tmp_path: Path) -> None:
    """By its number."""
    with pytest.raises(ConfigError, match=r"monsters\.jsonl:2"):
        read(tmp_path, json.dumps(monster("Ogre")) + "\n{", name="monsters.jsonl")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("kind: number", "kind: figure", "map.yaml:9: slots.hit_points.kind"),
        ("ignore:", "ignored:", "ignored is no field here"),
        ("type: monster\n", "", "type is missing"),
        ("type: monster\n", "type: monster\ntype: x\n", "is there twice"),
    ],
)
def test_a_mapping_that_is_none_is_refused_with_its_lines(tmp_path: Path, old: str, new: str, said: str) -> None:
    """A mapping is as strict as a world."""
    with pytest.raises(ConfigError, match=said):
        read(tmp_path, [], MAPPING.replace(old, new, 1))


def test_nothing_is_written_over(tmp_path: Path) -> None:
    """A folder with anything in it stays as it is; an empty one is taken."""
    found = read(tmp_path, [monster("Ogre")])
    (tmp_path / "out").mkdir()
    write_imported(found, tmp_path / "out")

    with pytest.raises(ConfigError, match="is there already"):
        write_imported(found, tmp_path / "out")


def test_many_records_go_into_several_files(tmp_path: Path) -> None:
    """A thousand entities a file, none lost."""
    mapping = "world: {id: w, title: W}\ntype: person\nnames: {en: name}\nslots: {}\n"
    world = write_imported(read(tmp_path, [{"name": f"P{n}"} for n in range(1001)], mapping), tmp_path / "out")

    assert len(world.entities) == 1001
    assert sorted(path.name for path in (tmp_path / "out" / "entities").iterdir()) == ["person-1.yaml", "person-2.yaml"]
