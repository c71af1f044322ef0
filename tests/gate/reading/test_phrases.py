"""The file of phrases."""

import pytest

from unmask.errors import ConfigError
from unmask.gate.reading.phrases import load_phrases, parse_phrases, phrase_pattern


def test_shipped_phrases_have_every_language_for_every_slot() -> None:
    """English and Korean have cues and templates for the same slots."""
    words = load_phrases().words

    assert set(words["en"].cues) == set(words["ko"].cues)
    assert {one.slot for one in words["en"].templates} == {one.slot for one in words["ko"].templates}


def test_unknown_key_is_refused_with_its_place() -> None:
    """A misspelt key is not passed over."""
    text = load_phrases().text.replace("    required: false", "    requird: false", 1)

    with pytest.raises(ConfigError, match=r"personas\.gruff"):
        parse_phrases(text)


def test_broken_yaml_is_refused() -> None:
    """A file that is no YAML says so."""
    with pytest.raises(ConfigError, match="no YAML"):
        parse_phrases("languages: [")


def test_english_phrases_are_whole_words_and_korean_ones_are_not() -> None:
    """Korean glues endings on."""
    assert phrase_pattern(("own",), "en").search("down") is None
    assert phrase_pattern(("모르",), "ko").search("잘모르겠소") is not None


def test_nothing_is_found_by_no_phrases() -> None:
    """An empty list matches nothing, not everything."""
    assert phrase_pattern((), "en").search("text") is None
