"""The world in the package, and the suites over it."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from unmask import gate
from unmask.cards import SLOTS
from unmask.knowledge.shipped import example_world
from unmask.knowledge.survey import Oddity, survey
from unmask.knowledge.world import ValueKind, World
from unmask.tasks.dialogue_phrases import FOLLOW_FRAMES, PREMISE_FRAMES, QUESTION_FRAMES, SLOT_NOUNS, SLOT_WORDS
from unmask.tasks.names import PIECES, is_held_out

SUITES = Path(gate.__file__).parent / "suites"
HANGUL = re.compile(r"[가-힣]")


@pytest.fixture(scope="module")
def world() -> World:
    """Return the example, read once."""
    return example_world()


def scenarios(name: str) -> list[dict[str, Any]]:
    """Return the scenarios of a suite as they are written."""
    found: list[dict[str, Any]] = yaml.safe_load((SUITES / f"{name}.yaml").read_text(encoding="utf-8"))["scenarios"]
    return found


def turns(name: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return every turn with its scenario."""
    return [(scenario, turn) for scenario in scenarios(name) for turn in scenario["turns"]]


def current_of(world: World) -> set[tuple[str, str, str]]:
    """Return all that holds now."""
    return {
        (found.subject, found.slot, found.value) for found in world.statements.values() if found.validity.is_current
    }


def test_it_has_what_it_says(world: World) -> None:
    """45 entities of five types, in two languages, with four personas."""
    assert len(world.entities) == 45
    assert set(world.types) == {"person", "place", "guild", "artefact", "era"}
    assert world.languages == ("en", "ko")
    assert len({found.value for found in world.statements.values() if found.slot == "persona"}) == 4


def test_the_embedded_model_knows_its_slots_and_words(world: World) -> None:
    """Slots are those of cards, and words, eras included, those that were trained for the slot."""
    for found in world.statements.values():
        assert found.slot in SLOTS
        text = world.text_of(found.subject, found.slot, found.value, "en")
        if found.slot in SLOT_WORDS:
            assert text in SLOT_WORDS[found.slot]
        else:
            assert world.slot_of(found.subject, found.slot).kind is ValueKind.ENTITY
        assert " " not in text


def test_the_embedded_model_was_not_trained_on_its_names(world: World) -> None:
    """Names are of trained pieces and of the fifth that is held out; eras are words."""
    pieces = re.compile(f"(?:{'|'.join(PIECES)}){{2,4}}")
    for entity in world.entities.values():
        if entity.type != "era":
            assert is_held_out(entity.names["en"])
            assert pieces.fullmatch(entity.names["en"].lower())


def test_korean_is_korean(world: World) -> None:
    """Names and words are in Hangul; some aliases have several words, some two scripts, some several owners."""
    assert all(HANGUL.search(entity.names["ko"]) for entity in world.entities.values())
    assert all(HANGUL.search(texts["ko"]) for texts in world.words.values())
    aliases = [text for entity in world.entities.values() for text in entity.aliases.get("ko", ())]
    assert any(" " in text for text in aliases)
    assert any(HANGUL.search(text) and re.search(r"[A-Za-z]", text) for text in aliases)
    assert sum(note.oddity is Oddity.AMBIGUOUS for note in survey(world).notes) >= 4


def test_there_are_two_sealings(world: World) -> None:
    """Two heroes sealed the villain long ago and one holds him now; another villain has the old seal still."""
    sealings = {
        (found.value, found.validity.since, found.validity.until)
        for found in world.statements.values()
        if found.subject == "zangol" and found.slot == "sealed_by"
    }

    assert sealings == {("belval", "bronze", "storm"), ("ristan", "bronze", "storm"), ("rolran", "storm", None)}
    assert world.statements["narzel.sealed_by"].value == "belval"


def test_misconceptions_trigger_in_both_languages(world: World) -> None:
    """Each has words to be known by, and somebody that it confuses."""
    assert len(world.misconceptions) >= 16
    for found in world.misconceptions.values():
        assert found.triggers["en"]
        assert found.triggers["ko"]
        assert found.confused_with is not None


@pytest.mark.parametrize(("name", "single", "several"), [("example", 50, 14), ("example-ko", 25, 3)])
def test_suites_have_the_sizes_they_say(name: str, single: int, several: int) -> None:
    """Single questions and conversations, each with an id of its own, of every kind."""
    found = scenarios(name)

    assert sum(scenario["kind"] != "multi_turn" for scenario in found) == single
    assert sum(scenario["kind"] == "multi_turn" for scenario in found) == several
    assert len({str(scenario["id"]) for scenario in found}) == len(found)
    assert {scenario["kind"] for scenario in found} == {
        "fact", "trap", "deep_lore", "persona", "cross_reference", "absent_fact", "multi_turn",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["example", "example-ko"])
def test_suites_ask_of_what_is_there(world: World, name: str) -> None:
    """Needed facts lead somewhere; what is forbidden is false, and can be read in both languages."""
    current = current_of(world)
    for _, turn in turns(name):
        assert set(turn["needed"]) <= {*world.statements, *world.misconceptions}
        for claim in turn.get("forbidden", ()):
            assert (claim["subject"], claim["slot"], claim["value"]) not in current
            assert world.text_of(claim["subject"], claim["slot"], claim["value"], "ko")


@pytest.mark.parametrize("name", ["example", "example-ko"])
def test_suites_check_what_is_true(world: World, name: str) -> None:
    """A fact that is checked is needed, a correction with its misconception; what is admitted is absent."""
    spoken = {(subject, slot) for subject, slot, _ in current_of(world)}
    for scenario, turn in turns(name):
        persona = world.statements[f"{scenario['speaker']}.persona"].value
        for check in turn["checks"]:
            match check:
                case {"states": key}:
                    assert key in world.statements
                    assert key in turn["needed"]
                case {"corrects": key}:
                    assert {key, *world.misconceptions[key].correction} <= set(turn["needed"])
                case {"admits": {"subject": subject, "slot": slot}}:
                    assert (subject, slot) not in spoken
                    assert world.slot_of(subject, slot).name == slot
                case {"names": keys}:
                    assert set(keys) <= set(world.entities)
                case _:
                    assert check in ({"manner": persona}, {"form": {"most_characters": 600}})


def frames() -> re.Pattern[str]:
    """Return what every question that the embedded model knows looks like."""
    noun = "|".join(noun for nouns in SLOT_NOUNS.values() for noun in nouns)
    listing = rf"(?:(?:your|their|the) (?:{noun})(?:, | and )?)+(?: of your (?:{noun}))?"
    pools = (*QUESTION_FRAMES, *FOLLOW_FRAMES, *PREMISE_FRAMES)
    filled = [re.escape(frame).replace(r"\{x\}", listing).replace(r"\{n\}", f"(?:{noun})") for frame in pools]
    return re.compile("|".join(frame.replace(r"\{w\}", r"[\w-]+") for frame in filled))


def test_english_questions_are_in_the_frames_of_the_embedded_model() -> None:
    """Each is a frame that it was trained on or tested with, filled with nouns that it knows."""
    known = frames()

    assert [turn["question"] for _, turn in turns("example") if not known.fullmatch(str(turn["question"]))] == []


def test_korean_questions_are_korean() -> None:
    """Each is in Hangul, and some have names in two scripts."""
    questions = [str(turn["question"]) for _, turn in turns("example-ko")]

    assert all(HANGUL.search(question) for question in questions)
    assert any(re.search(r"[A-Za-z]", question) for question in questions)


def test_clusters_are_speakers() -> None:
    """Questions to one character count as one, since they share its card."""
    for scenario in scenarios("example"):
        assert scenario["cluster"] == f"{scenario['world']}-{scenario['speaker']}"
