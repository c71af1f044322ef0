"""Behaviour of ``unmask world ask``."""

import json
from pathlib import Path

import pytest

from tests.cli.terminal import type_in


def test_text_goes_to_stdout() -> None:
    """Without options the facts are written as the embedded model reads them, and nothing else."""
    ended = type_in("world", "ask", "What is your home?", "--speaker", "valkel")

    assert ended.code == 0
    assert ended.out.splitlines() == ["# Valkel", "- persona gruff", "- role smith", "- home Melris"]


def test_explain_says_why() -> None:
    """A table has each fact with its reason; what found no room is in it too."""
    ended = type_in("world", "ask", "Is your home Nolven?", "--speaker", "valkel", "--explain", "--budget", "30")

    assert ended.code == 0
    assert "asked for home" in ended.out
    for said in ("valkel.persona", "pinned", "correction", "not there: no room"):
        assert said in ended.out.replace("\n", " ")


def test_json_and_several_turns() -> None:
    """Several questions are turns of one conversation, each with its context."""
    ended = type_in(
        "world", "ask", "네 동료는 누구야?", "그의 고향은?", "--language", "ko", "--form", "prose", "--json",
        "--speaker", "belval",
    )  # fmt: skip
    first, second = json.loads(ended.out)["turns"]

    assert [fact["id"] for fact in first["facts"] if fact["reason"] == "asked"] == ["belval.ally"]
    assert [fact["id"] for fact in second["facts"] if fact["reason"] == "asked"] == ["ristan.home"]
    assert "리스탄" in second["text"]


def test_an_imported_lorebook_answers_in_prose(tmp_path: Path) -> None:
    """It has no slot of cards, so cards would say nothing; and a sentence gets no second full stop."""
    book, world = tmp_path / "book.json", tmp_path / "world"
    entry = {
        "keys": ["보스트", "Vost"],
        "content": "Vost is a drowned town.",
        "enabled": True,
        "insertion_order": 1,
        "use_regex": False,
        "extensions": {},
    }
    book.write_text(
        json.dumps({"spec": "lorebook_v3", "data": {"extensions": {}, "entries": [entry]}}), encoding="utf-8"
    )
    assert type_in("world", "import", str(book), "--from", "card", "--to", str(world)).code == 0

    ended = type_in("world", "ask", "보스트는 어떤 곳이야?", "--world", str(world))

    assert ended.out.splitlines() == ["보스트 – lore: Vost is a drowned town."]


def test_an_empty_question_is_refused() -> None:
    """It would be answered with whatever is least unlike nothing."""
    assert type_in("world", "ask", " ").code == 2


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (("--speaker", "valke"), "did you mean valkel"),
        (("--language", "fr"), "allowed: en, ko"),
        (("--budget", "3"), "pinned facts"),
        (("--world", "/nowhere/at/all"), "is no folder"),
    ],
)
def test_mistakes_are_usage_errors(argv: tuple[str, ...], says: str) -> None:
    """Each says what is allowed."""
    ended = type_in("world", "ask", "Hello", *argv)

    assert ended.code == 2
    assert says in ended.err.replace("\n", " ")
