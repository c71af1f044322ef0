"""Behaviour of worlds read from folders."""

import os
import unicodedata
from pathlib import Path

import pytest

from unmask.knowledge import folder as bounds
from unmask.knowledge.errors import Fault, WorldError
from unmask.knowledge.files import read_world
from unmask.knowledge.world import ValueKind
from unmask.testing.world_folders import FILES, HEAD, MISCONCEPTIONS, PEOPLE, PLACES, line_of, write_folder


def faults_of(folder: Path) -> tuple[Fault, ...]:
    """Return what is wrong with a folder."""
    with pytest.raises(WorldError) as caught:
        read_world(folder)
    return caught.value.faults


def test_a_sound_folder_is_a_world(tmp_path: Path) -> None:
    """Names, slots, values with their validity, provenance and misconceptions are as written."""
    world = read_world(write_folder(tmp_path))

    assert (world.id, world.languages, world.times) == ("small", ("en", "ko"), ("dawn", "frost"))
    assert world.entities["kaelis"].names == {"en": "Kaelis", "ko": "카엘리스"}
    assert world.entities["kaelis"].aliases["ko"] == ("성문지기", "Keeper 카엘리스")
    assert world.entities["kaelis"].origin.note == "chapter one"
    assert world.slot_of("kaelis", "age").kind is ValueKind.NUMBER
    assert sorted(world.statements) == [
        "joren.role", "kaelis.age", "kaelis.ally.joren", "kaelis.home", "kaelis.home.dorvel", "kaelis.role",
        "kaelis.saying.1", "kaelis.saying.2",
    ]  # fmt: skip
    home = world.statements["kaelis.home"]
    assert (home.value, home.validity.since, home.origin.note) == ("miven", "frost", "moved")
    assert home.origin.line == line_of(PEOPLE, "value: miven")
    assert not world.statements["kaelis.home.dorvel"].validity.is_current
    assert world.text_of("kaelis", "role", "keeper", "ko") == "지기"
    assert world.misconceptions["kaelis-is-no-smith"].triggers["ko"] == ("대장간",)


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("people", "role: keeper", "role: kepeer", "did you mean keeper?"),
        ("people", "value: miven", "value: mivven", "did you mean miven?"),
        ("people", "value: miven", "value: joren", "which is of type person; allowed: place"),
        ("people", "ally: [joren]", "ally: [joren, joren]", "'joren' twice"),
        ("people", "until: frost", "since: dawn", "dorvel and miven are current"),
        ("people", "until: frost", "until: noon", "'noon' is no time of this world; allowed: dawn, frost"),
        ("people", "until: frost", "until: dawn, since: frost", "it ends in dawn, before it begins in frost"),
        ("people", "age: 41", "age: '41'", "allowed: a number without quotes"),
        ("people", "age: 41", "age: true", "allowed: a number without quotes"),
        ("people", "age: 41", "age: .inf", "allowed: a number without quotes"),
        ("people", "age: 41", "hat: red", "person has no slot 'hat'"),
        ("people", "[So be it.", "[7", "write a number in quotes"),
        ("people", "So be it.", '"a\\nb"', "one line"),
        ("people", "type: person\n  names: {en: Joren", "type: orc\n  names: {en: Joren", "'orc' is no type"),
        ("people", "names: {en: Joren, ko: 요렌}", "names: {en: Joren}", "names has no text in ko"),
        ("people", "names: {en: Joren, ko: 요렌}", "names: {en: kaelis, ko: 요렌}", "the name 'kaelis' of kaelis"),
        ("people", "ko: 요렌", "ko: 카엘리스", "the name '카엘리스' of kaelis"),
        ("people", "ko: 요렌", "ko: 요렌, fr: Joren", "'fr' is no language of this world"),
        ("people", "en: Joren", "en: ' Joren'", "no blanks at its ends"),
        ("people", "en: [the keeper]", "en: [the keeper, The  Keeper]", "twice in en"),
        ("people", "note: chapter one", "colour: red", "colour is no field here; allowed: type, names"),
        ("people", "joren:\n", "kaelis:\n", "'kaelis' is there twice"),
        ("people", "joren:\n", "jo.ren:\n", "is no id; allowed: letters, digits"),
        ("places", "miven:", "joren:", "the id 'joren' is there twice, first in entities/people.yaml"),
        ("misconceptions", "subject: kaelis", "subject: nobody", "the subject 'nobody' is no entity"),
        ("misconceptions", "confused_with: joren", "confused_with: jorren", "'jorren' is no entity"),
        ("misconceptions", "confused_with: joren", "confused_with: kaelis", "confused with itself"),
        ("misconceptions", "[kaelis.role]", "[kaelis.rank]", "the correction 'kaelis.rank' is no statement"),
        ("misconceptions", "[kaelis.role]", "[]", "correction"),
        ("misconceptions", "claimed: smith", "claimed: keeper", "what it claims is true"),
        ("misconceptions", "claimed: smith", "claimed: miven", "a key of the world's words"),
        ("misconceptions", "slot: role", "slot: rank", "person has no slot 'rank'"),
        ("misconceptions", "id: kaelis-is-no-smith", "id: kaelis-is-no-smith\n  why: x", "why is no field here"),
        ("world", "title: A small world\n", "", "title is missing"),
        ("world", "kind: number", "kind: figure", "types.person.slots.age.kind is 'figure'"),
        ("world", "refers_to: [place]", "refers_to: [town]", "refers to 'town', no type"),
        ("world", "kind: number", "kind: number, refers_to: [place]", "refers to entities"),
        ("world", "asked_by: {en: [age], ko: [나이]}", "asked_by: {en: [age]}", "that a question in ko asks"),
        ("world", "smith, ko: 대장장이", "smith", "words.smith has no text in ko"),
        ("world", "[en, ko]", "[en, ko, en]", "languages has en twice"),
        ("world", "[en, ko]", "[English]", "languages.0 is 'English'"),
    ],
)
def test_what_is_wrong_is_told_with_file_and_line(tmp_path: Path, file: str, old: str, new: str, said: str) -> None:
    """One spoilt place is told at the line that holds it."""
    name, text = next((name, text) for name, text in FILES.items() if Path(name).stem == file)
    assert old in text
    spoilt = text.replace(old, new, 1)

    faults = [fault for fault in faults_of(write_folder(tmp_path, **{file: spoilt})) if said in fault.message]

    assert len(faults) == 1
    assert faults[0].file == name
    first = line_of(text, old)
    assert first - 3 <= faults[0].line <= first + 3


def test_all_faults_of_one_reading_come_together(tmp_path: Path) -> None:
    """A reference, a name, a head and a misconception at once, sorted by file and line; the message lists them."""
    folder = write_folder(
        tmp_path,
        people=PEOPLE.replace("value: miven", "value: nowhere").replace("Joren, ko: 요렌", "Kaelis, ko: 요렌"),
        world=HEAD.replace("smith, ko: 대장장이", "smith"),
        misconceptions=MISCONCEPTIONS.replace("subject: kaelis", "subject: nobody"),
    )

    with pytest.raises(WorldError) as caught:
        read_world(folder)

    faults = caught.value.faults
    assert [fault.file for fault in faults] == [
        "entities/people.yaml", "entities/people.yaml", "misconceptions.yaml", "world.yaml",
    ]  # fmt: skip
    assert faults == tuple(sorted(faults))
    for fault in faults:
        assert f"{fault.file}:{fault.line}: {fault.message}" in caught.value.message


@pytest.mark.parametrize(("old", "new"), [("role: keeper", "role: kepeer"), ("note: chapter one", "colour: red")])
def test_one_mistake_is_one_fault(tmp_path: Path, old: str, new: str) -> None:
    """What refers to a fact or an entity that is written badly is not at fault itself."""
    assert len(faults_of(write_folder(tmp_path, people=PEOPLE.replace(old, new, 1)))) == 1


def test_a_homonymous_alias_is_allowed(tmp_path: Path) -> None:
    """Two may share an alias, and one may be called what another is named."""
    spoilt = PEOPLE.replace(
        "  names: {en: Joren, ko: 요렌}", "  names: {en: Joren, ko: 요렌}\n  aliases: {en: [Kaelis]}"
    )

    world = read_world(write_folder(tmp_path, people=spoilt))

    assert world.entities["joren"].aliases["en"] == ("Kaelis",)


def test_names_are_composed(tmp_path: Path) -> None:
    """Hangul typed as letters (NFD) is the same name as typed as syllables (NFC)."""
    apart = unicodedata.normalize("NFD", "카엘리스")
    assert apart != "카엘리스"

    faults = faults_of(write_folder(tmp_path, people=PEOPLE.replace("ko: 요렌", f"ko: {apart}")))

    assert ["카엘리스" in fault.message for fault in faults] == [True]


def test_korean_and_mixed_ids_are_ids(tmp_path: Path) -> None:
    """An id is of letters of any script."""
    world = read_world(write_folder(tmp_path, people=PEOPLE.replace("joren", "요렌-joren2"), misconceptions="[]"))

    assert world.statements["kaelis.ally.요렌-joren2"].value == "요렌-joren2"


def test_a_value_that_came_back_has_an_id_of_its_own(tmp_path: Path) -> None:
    """Who lived somewhere twice has two statements of it."""
    twice = PEOPLE.replace("      - {value: dorvel, until: frost}\n", "      - {value: dorvel, until: frost}\n" * 2)

    world = read_world(write_folder(tmp_path, people=twice))

    assert {"kaelis.home.dorvel", "kaelis.home.dorvel.again"} <= set(world.statements)


def test_an_empty_world_is_none(tmp_path: Path) -> None:
    """A head without entities is told; so is a folder with nothing in it, and one that is not there."""
    assert "the world is empty" in faults_of(write_folder(tmp_path / "a", {"world.yaml": HEAD}))[0].message
    (tmp_path / "b").mkdir()
    assert "missing or empty" in faults_of(tmp_path / "b")[0].message
    assert "no such folder" in faults_of(tmp_path / "c")[0].message


def test_the_digest_is_of_the_content(tmp_path: Path) -> None:
    """Files, their order, their format and notes have no part in it; a value has."""
    first = read_world(write_folder(tmp_path / "a"))
    joren = PEOPLE[PEOPLE.index("joren:") :]
    moved = {
        "world.yml": HEAD,
        "entities/z.yaml": PEOPLE.replace(joren, "").replace("note: chapter one", "note: chapter two"),
        "entities/a.yaml": joren,
        "entities.json": '{"dorvel":{"type":"place","names":{"en":"Dorvel","ko":"도르벨"}},'
        '\t"miven":{"type":"place","names":{"en":"Miven","ko":"\\ubbf8\\ubca4"}}}',
        "misconceptions.yaml": MISCONCEPTIONS,
    }
    second = read_world(write_folder(tmp_path / "b", moved))
    third = read_world(write_folder(tmp_path / "c", people=PEOPLE.replace("age: 41", "age: 42")))

    assert first.digest == second.digest
    assert list(first.entities) == list(second.entities)
    assert list(first.statements) == list(second.statements)
    assert first.digest != third.digest


def test_a_stray_file_is_told(tmp_path: Path) -> None:
    """A file that would not be read is no world's; a text beside it is nobody's business, nor is a hidden folder."""
    folder = write_folder(tmp_path)
    for name in ("README.md", ".git/x.yaml"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x")
    read_world(folder)
    for name in ("persons.YAML", "entities/old/a.yaml"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x: 1")

    assert [fault.file for fault in faults_of(folder)] == ["entities/old/a.yaml", "persons.YAML"]


def test_links_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    """A world is what is in its folder; a link to a file beside it in the folder is as good as the file."""
    outside = tmp_path / "outside.yaml"
    outside.write_text("x: {type: place, names: {en: X, ko: 엑스}}")
    folder = write_folder(tmp_path / "world")
    (folder / "entities" / "more.yaml").symlink_to(outside)
    (folder / "entities" / "folder").symlink_to(tmp_path)

    assert {fault.file for fault in faults_of(folder)} == {"entities/more.yaml", "entities/folder"}

    (folder / "entities" / "more.yaml").unlink()
    (folder / "entities" / "folder").unlink()
    (folder / ".data").mkdir()
    os.replace(folder / "world.yaml", folder / ".data" / "world.yaml")  # noqa: PTH105 - as a mounted folder has it
    (folder / "world.yaml").symlink_to(Path(".data", "world.yaml"))
    read_world(folder)


def test_sizes_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file, a world and a number of files that are too large are refused before they are parsed."""
    folder = write_folder(tmp_path)
    monkeypatch.setattr(bounds, "LARGEST_FILE", len(PLACES.encode()))
    assert "larger than a file" in faults_of(folder)[0].message
    monkeypatch.setattr(bounds, "LARGEST_FILE", 1 << 20)
    monkeypatch.setattr(bounds, "LARGEST_WORLD", 1000)
    assert any("larger than a world" in fault.message for fault in faults_of(folder))
    monkeypatch.setattr(bounds, "MOST_FILES", 3)
    assert any("holds 4 files" in fault.message for fault in faults_of(folder))


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    """Bytes of another encoding are told at their line."""
    folder = write_folder(tmp_path)
    (folder / "entities" / "more.yaml").write_bytes("a: b\nc: 한글".encode("euc-kr"))

    fault = next(fault for fault in faults_of(folder) if fault.file == "entities/more.yaml")

    assert (fault.line, "UTF-8" in fault.message) == (2, True)


@pytest.mark.parametrize(("file", "text"), [("people", "- a\n"), ("misconceptions", "a: b\n"), ("world", "7\n")])
def test_a_file_of_another_shape_is_told(tmp_path: Path, file: str, text: str) -> None:
    """A list where a mapping belongs, or the reverse, is one fault of that file."""
    assert any(Path(fault.file).stem == file for fault in faults_of(write_folder(tmp_path, **{file: text})))


def test_two_heads_are_one_too_many(tmp_path: Path) -> None:
    """A world described twice is told."""
    folder = write_folder(tmp_path)
    (folder / "world.json").write_text("{}")

    assert any("described in world.json already" in fault.message for fault in faults_of(folder))


@pytest.mark.slow
def test_ten_thousand_entities_are_read(tmp_path: Path) -> None:
    """A large world is read whole, and every one of its references leads somewhere."""
    lines = [
        f"p{n}: {{type: person, names: {{en: P{n}, ko: 사람{n}}}, slots: {{ally: p{(n + 1) % 9998}}}}}\n"
        for n in range(9998)
    ]

    world = read_world(write_folder(tmp_path, people="".join(lines), misconceptions="[]"))

    assert len(world.entities) == 10_000
    assert len(world.statements) == 9998
