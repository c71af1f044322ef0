"""Behaviour of ``unmask world``."""

import json
from pathlib import Path

from tests.cli.terminal import type_in
from unmask.testing.world_folders import MISCONCEPTIONS, PEOPLE, line_of, write_folder

RECORDS = """\
{"index": "ogre", "name": "Ogre", "size": "Large", "hit_points": 59, "url": "/ogre"}
{"index": "imp", "name": "Imp", "size": "Tiny", "hit_points": 10, "xp": 200}
"""
MAPPING = """\
world: {id: bestiary, title: Bestiary}
type: monster
id: index
names: {en: name}
slots:
  size: {field: size, kind: word}
  hit_points: {field: hit_points, kind: number}
ignore: [url]
"""


def test_check_shows_the_shipped_world() -> None:
    """Without a folder it is the example: counts in a table, notes beneath."""
    ended = type_in("world", "check")

    assert ended.code == 0
    for text in ("The Two Sealings", "person", "24", "45", "ambiguous name", "등불 치유사"):
        assert text in ended.out


def test_check_is_one_json_object(tmp_path: Path) -> None:
    """Machines read counts, notes with their places, and that there are no faults."""
    record = json.loads(type_in("world", "check", str(write_folder(tmp_path)), "--json").out)

    assert record["ok"]
    assert record["faults"] == []
    assert {count["type"]: count["entities"] for count in record["types"]} == {"person": 2, "place": 2}
    assert record["notes"][0]["file"] == "entities/places.yaml"


def test_check_lists_every_fault_where_editors_find_it(tmp_path: Path) -> None:
    """Faults go to stdout one a line, as file:line: message, and the exit code is 1."""
    spoilt = MISCONCEPTIONS.replace("subject: kaelis", "subject: nobody")
    folder = write_folder(tmp_path, misconceptions=spoilt, people=PEOPLE.replace("value: miven", "value: nowhere"))

    ended = type_in("world", "check", str(folder))

    assert ended.code == 1
    lines = ended.out.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith(f"{folder}/entities/people.yaml:{line_of(PEOPLE, 'value: miven')}: ")
    assert "2 to mend" in ended.err
    record = json.loads(type_in("world", "check", str(folder), "--json").out)
    assert not record["ok"]
    assert [fault["file"] for fault in record["faults"]] == ["entities/people.yaml", "misconceptions.yaml"]


def test_check_of_no_folder_is_wrong_usage(tmp_path: Path) -> None:
    """A folder that is not there has exit code 2."""
    ended = type_in("world", "check", str(tmp_path / "nowhere"))

    assert (ended.code, "is no folder" in ended.err) == (2, True)


def test_import_of_records_writes_a_world_that_checks(tmp_path: Path) -> None:
    """What was left out is said, and the folder is a world."""
    (tmp_path / "monsters.jsonl").write_text(RECORDS)
    (tmp_path / "map.yaml").write_text(MAPPING)
    arguments = ("--from", "records", "--mapping", str(tmp_path / "map.yaml"), "--to", str(tmp_path / "out"))

    ended = type_in("world", "import", str(tmp_path / "monsters.jsonl"), *arguments)

    assert ended.code == 0
    assert "left out: xp (1)" in ended.err
    assert type_in("world", "check", str(tmp_path / "out")).code == 0
    again = type_in("world", "import", str(tmp_path / "monsters.jsonl"), *arguments)
    assert (again.code, "is there already" in again.err) == (2, True)


def test_import_of_a_card_says_what_it_did_in_json(tmp_path: Path) -> None:
    """A lorebook becomes a world in the language given."""
    entry = {"keys": ["미벤"], "content": "강가의 마을.", "extensions": {}, "enabled": True, "insertion_order": 1}
    book = {"spec": "lorebook_v3", "data": {"extensions": {}, "entries": [entry]}}
    (tmp_path / "book.json").write_text(json.dumps(book))

    ended = type_in(
        "world", "import", str(tmp_path / "book.json"), "--from", "card", "--language", "ko",
        "--to", str(tmp_path / "out"), "--json",
    )  # fmt: skip

    assert ended.code == 0
    assert json.loads(ended.out)["entities"] == 1


def test_import_options_that_do_not_fit_are_wrong_usage(tmp_path: Path) -> None:
    """Records need a mapping, cards have none, and a language is a code."""
    file, to = str(tmp_path / "x.json"), str(tmp_path / "out")
    assert type_in("world", "import", file, "--from", "records", "--to", to).code == 2
    assert type_in("world", "import", file, "--from", "card", "--mapping", file, "--to", to).code == 2
    assert type_in("world", "import", file, "--from", "card", "--language", "Korean!", "--to", to).code == 2
    assert (
        type_in("world", "import", file, "--from", "records", "--mapping", file, "--language", "en", "--to", to).code
        == 2
    )
