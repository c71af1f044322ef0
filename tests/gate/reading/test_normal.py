"""Texts made comparable."""

import pytest

from unmask.gate.reading.normal import TEXT_F1, has_past_ending, key_of, normalised, sentences_of, text_f1


def test_composed_and_decomposed_hangul_are_the_same() -> None:
    """A text typed on another system reads the same."""
    assert normalised("미벤") == normalised("미벤")


def test_key_ignores_case_and_marks() -> None:
    """Two writings of one name have one key."""
    assert key_of("Old-Harbor") == key_of("old harbor")


def test_sentences_end_at_marks_of_any_script() -> None:
    """Full-width marks end sentences too."""
    assert sentences_of("안녕。 나는 산다! So?") == ("안녕。", "나는 산다!", "So?")


@pytest.mark.parametrize(
    ("said", "is_said"),
    [
        ("모든 강물은 결국 바다로 흐른다고 했지", True),
        ("결국 강물은 모두 바다로 흐른다", True),
        ("바다는 강물보다 넓다", False),
    ],
)
def test_korean_free_text_is_compared_by_syllables(said: str, is_said: bool) -> None:
    """Particles and word order cost little; another sentence with the same nouns is not it."""
    assert (text_f1("모든 강물은 결국 바다로 흐른다", said) >= TEXT_F1) is is_said


def test_english_free_text_is_compared_by_words_in_a_window() -> None:
    """A long sentence around a text costs nothing."""
    assert text_f1("the gate never sleeps", "As I tell all who ask, the gate never sleeps, friend") == 1.0


def test_nothing_has_nothing_in_common() -> None:
    """An empty text is not said by anything."""
    assert text_f1("", "the gate") == 0.0


@pytest.mark.parametrize(("clause", "past"), [("미벤에 살았다", True), ("집이 있다", False), ("살겠다", False)])
def test_past_of_korean_verbs(clause: str, past: bool) -> None:
    """Being and will end in a double s and are not past."""
    assert has_past_ending(clause) is past
