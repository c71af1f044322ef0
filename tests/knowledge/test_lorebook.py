"""Behaviour of cards and lorebooks read into worlds (Character Card V3)."""

import json
from pathlib import Path

import pytest

from unmask.errors import ConfigError
from unmask.knowledge.errors import WorldError
from unmask.knowledge.imported import Imported, write_imported
from unmask.knowledge.lorebook import import_card


def entry(**changes: object) -> dict[str, object]:
    """Return an entry with all fields that the specification asks for."""
    base: dict[str, object] = {
        "keys": ["Miven"], "content": "A town on the river.", "extensions": {}, "enabled": True,
        "insertion_order": 1, "use_regex": False,
    }  # fmt: skip
    return base | changes


def card(*entries: dict[str, object], book: dict[str, object] | None = None, **data: object) -> dict[str, object]:
    """Return a card with a lorebook."""
    held = {"extensions": {}, "entries": list(entries)} | (book or {})
    fields: dict[str, object] = {"name": "Jeongu", "description": "Keeps the gate.", "character_book": held}
    return {"spec": "chara_card_v3", "spec_version": "3.0", "data": fields | data}


def read(tmp_path: Path, value: object, language: str = "en") -> Imported:
    """Import a value as a file."""
    file = tmp_path / "card.json"
    file.write_text(json.dumps(value), encoding="utf-8")
    return import_card(file, language)


def test_an_entry_is_an_entity_with_its_keys(tmp_path: Path) -> None:
    """Its name or first key is its name, other keys are aliases, each paragraph is a fact."""
    found = read(tmp_path, card(entry(keys=["Miven", "the  town"], content="On the river.\n\nIt is old.")))
    world = write_imported(found, tmp_path / "out")

    assert world.entities["miven"].names == {"en": "Miven"}
    assert world.entities["miven"].aliases == {"en": ("the town",)}
    lore = [fact.value for fact in world.statements.values() if fact.subject == "miven"]
    assert lore == ["On the river.", "It is old."]


def test_a_constant_entry_is_pinned_to_the_character(tmp_path: Path) -> None:
    """What is always said is an identity fact of whoever speaks, once, with its keys in the note."""
    constant = entry(keys=["world"], content="The world is flat.", constant=True)
    world = write_imported(read(tmp_path, card(constant, constant)), tmp_path / "out")

    facts = [fact for fact in world.statements.values() if fact.slot == "always"]
    assert [(fact.subject, fact.value) for fact in facts] == [("jeongu", "The world is flat.")]
    assert world.slot_of("jeongu", "always").identity
    assert "keys: world" in facts[0].origin.note
    assert world.slot_of("jeongu", "description").identity
    assert "world" not in world.entities


def test_a_lorebook_alone_holds_its_constant_entries_itself(tmp_path: Path) -> None:
    """Without a character the book is who they are pinned to."""
    book = {"spec": "lorebook_v3", "data": {"name": "강가", "extensions": {}, "entries": [entry(constant=True)]}}
    imported = read(tmp_path, book, "ko")
    world = write_imported(imported, tmp_path / "out")

    assert "constant entries, now facts of '강가' and no entities: 1" in imported.notes
    assert world.languages == ("ko",)
    assert [(fact.subject, fact.slot) for fact in world.statements.values()] == [("강가", "always")]


def test_patterns_are_no_aliases(tmp_path: Path) -> None:
    """With ``use_regex`` keys are patterns and ``constant`` does not count; the note keeps them."""
    pattern = entry(keys=["/drag.n/i"], name="Dragons", use_regex=True, constant=True)
    found = read(tmp_path, card(pattern))

    assert found.entities["dragons"].aliases == {}
    assert found.entities["dragons"].type == "entry"
    assert "/drag.n/i" in (found.entities["dragons"].note or "")
    assert any("patterns for keys" in note for note in found.notes)


def test_entries_that_are_not_enabled_are_left_out_and_told(tmp_path: Path) -> None:
    """They are never said, and so are no facts."""
    found = read(tmp_path, card(entry(), entry(keys=["x"], enabled=False)))

    assert set(found.entities) == {"jeongu", "miven"}
    assert "entries that are not enabled, left out: 1" in found.notes


def test_entries_come_in_their_order(tmp_path: Path) -> None:
    """The lower ``insertion_order`` comes first."""
    found = read(tmp_path, card(entry(keys=["B"], insertion_order=9), entry(keys=["A"], insertion_order=2.5)))

    assert list(found.entities) == ["jeongu", "a", "b"]


def test_the_little_languages_of_texts_are_read(tmp_path: Path) -> None:
    """Decorators go, ``{{char}}`` becomes the nickname, comments go, and what only a chat knows stays; all is told."""
    text = "@@depth 4\n@@@role system\n\n{{char}} guards it.{{// hush}} {{Comment: x}}{{user}} is a guest."
    found = read(tmp_path, card(entry(content=text), nickname="Jung"))

    assert [value.value for value in found.entities["miven"].slots["lore"]] == ["Jung guards it. {{user}} is a guest."]
    assert "decorators, left out: depth (1), role (1)" in found.notes
    assert "macros that stay in texts as they are: user (1)" in found.notes


def test_nothing_is_dropped_without_a_word(tmp_path: Path) -> None:
    """Unknown fields of every part, extensions, and what is no fact are named."""
    value = card(
        entry(flavour="salt", extensions={"depth": 4}),
        book={"scan_depth": 3, "shelf": 1, "extensions": {"risu": 1}},
        mood="x",
        first_mes="Hello.",
    )
    value["weird"] = 1

    notes = "\n".join(read(tmp_path, value).notes)

    for said in (
        "no facts, left out of the card: first_mes",
        "unknown fields of the file, left out: weird",
        "unknown fields of the card, left out: mood",
        "unknown fields of the book, left out: shelf",
        "unknown fields of entries, left out: flavour (1)",
        "extensions of the book, left out: risu",
        "extensions of entries, left out: depth (1)",
        "left out: scan_depth",
    ):
        assert said in notes


def test_what_a_world_has_no_place_for_is_in_the_note(tmp_path: Path) -> None:
    """Secondary keys and the like stay with their entry."""
    found = read(tmp_path, card(entry(secondary_keys=["river"], selective=True, priority=3, id=7)))

    note = found.entities["miven"].note
    assert note == "lorebook entry 7; secondary_keys: river; selective: True; insertion_order: 1; priority: 3"


def test_two_entries_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """The second gets a number, and that is told."""
    found = read(tmp_path, card(entry(), entry(keys=["MIVEN"], content="Another.")))

    assert found.entities["miven-2"].names == {"en": "MIVEN (2)"}
    assert any("MIVEN (2)" in note for note in found.notes)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"spec": "world_info"}, "allowed: chara_card_v3"),
        ([], "allowed: chara_card_v3"),
        ({"spec": "chara_card_v3", "data": {"name": 3}}, "data.name"),
        ({"spec": "lorebook_v3", "data": {"entries": [{"keys": "Miven"}]}}, "data.entries.0.keys"),
    ],
)
def test_what_is_no_card_is_refused(tmp_path: Path, value: object, said: str) -> None:
    """Another format, or a field that is not what the specification says, with the field's path."""
    with pytest.raises(ConfigError, match=said):
        read(tmp_path, value)


def test_broken_json_is_refused_with_its_line(tmp_path: Path) -> None:
    """A comma too many is told where it is; a missing file is told."""
    file = tmp_path / "card.json"
    file.write_text('{\n"spec": 1,\n}')
    with pytest.raises(ConfigError, match=r"card\.json:2"):
        import_card(file, "en")
    with pytest.raises(ConfigError, match="cannot be read"):
        import_card(tmp_path / "none.json", "en")


def test_an_empty_book_is_no_world_and_writes_nothing(tmp_path: Path) -> None:
    """Without entries there is nothing to know; the folder stays away."""
    found = read(tmp_path, {"spec": "lorebook_v3", "data": {"entries": []}})

    with pytest.raises(WorldError, match="the world is empty"):
        write_imported(found, tmp_path / "out")

    assert [path.name for path in tmp_path.iterdir()] == ["card.json"]
