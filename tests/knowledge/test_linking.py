"""Behaviour of names in running text."""

import unicodedata

import pytest

from unmask.knowledge.linking import Linker
from unmask.knowledge.script import key_of, units
from unmask.testing.small_worlds import make_entity, make_world, small_world


def linked(text: str, linker: Linker) -> list[list[str]]:
    """Return the candidates of each mention."""
    return [[one.entity for one in mention.candidates] for mention in linker.mentions(units(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where is KAELIS?", [["kaelis"]]),
        ("Kaelis's home and Haeun's", [["kaelis"], ["haeun"]]),
        ("Was it old vorn or Vorn", [["vorn"], ["vorn"]]),
        ("Into Vael’s Keep!", [["vael"]]),
        ("Old-Vorn", [["vorn"]]),
        ("Kaelistown has nothing of it", []),
        ("정우는 하은이를 안다", [["jungwoo"], ["haeun"]]),
        ("하는 누구야", [["ha"]]),
        ("바엘성에서", [["vael"]]),
        ("Kaelis의 집", [["kaelis"]]),
        ("정우산맥", []),
        ("the Grey", [["kaelin", "kaelis"]]),
        ("Will Kaelis come?", [["will"], ["kaelis"]]),
        ("I will come", []),
        ("", []),
    ],
)
def test_names_are_found(text: str, expected: list[list[str]]) -> None:
    """The longest name wins, whatever its case, possessive or particle; words that only contain one are none."""
    assert linked(text, Linker(small_world())) == expected


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
@pytest.mark.parametrize("text", ["카엘리스에게", "ＫＡＥＬＩＳ", "Kaelis"])
def test_every_spelling_of_unicode_is_one_name(form: str, text: str) -> None:
    """Decomposed Hangul and full-width letters are the same name."""
    assert linked(unicodedata.normalize(form, text), Linker(small_world())) == [["kaelis"]]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("東京", "東京は好きですか"),
        ("Москва", "где МОСКВА?"),
        ("เชียงใหม่", "ไปเชียงใหม่ไหม"),
        ("दिल्ली", "दिल्ली कहाँ है"),
        ("정우2호", "정우2호는 어디"),
        ("Straße", "die STRASSE dort"),
    ],
)
def test_any_script(name: str, text: str) -> None:
    """Names are found in scripts with and without spaces, and in mixed ones."""
    world = make_world([make_entity("one", "person", name, name)], [])

    assert linked(text, Linker(world)) == [["one"]]


def test_key_ignores_case_and_joins() -> None:
    """Names that differ in case, apostrophes and hyphens are one."""
    assert key_of("Vael's-KEEP") == key_of("vael’s keep")


def test_values_are_found_outside_of_names() -> None:
    """Words and texts of the world are told, in either language."""
    linker = Linker(small_world())
    text = units("Is the smith at the ember blade? 대장장이인가?")

    assert [found.value for found in linker.values(text, ())] == ["smith", "the ember blade", "smith"]
