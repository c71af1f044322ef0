"""Manners by markers."""

import pytest

from unmask.gate.manner import manner_of
from unmask.gate.reading.phrases import load_phrases, parse_phrases
from unmask.gate.reading.setting import setting_of
from unmask.tasks.dialogue_phrases import MANNERS
from unmask.testing.worlds import gate_world

WORLD = gate_world()
SETTING = setting_of(WORLD, "en", load_phrases())


@pytest.mark.parametrize("manner", MANNERS)
def test_no_trained_phrase_has_a_marker_of_another_manner(manner: str) -> None:
    """Each phrase that the embedded models were trained with is of its own persona alone."""
    for phrase in (*MANNERS[manner].openings, *MANNERS[manner].closings):
        assert manner_of(SETTING, manner, phrase).value == 1.0, phrase


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Hmph. I live in Miven.", 1.0),
        ("흥, 미벤에 산다.", 1.0),
        ("Well, well. I live in Miven.", 0.0),
        ("Hmph. I live in Miven. You did not hear it from me, and I was never here.", 0.5),
        ("I live in Miven.", None),
    ],
)
def test_manner(text: str, value: float | None) -> None:
    """Its own, another's, both, and none, which tells nothing."""
    assert manner_of(SETTING, "gruff", text).value == value


def test_required_markers_that_are_missing_are_a_fault() -> None:
    """Where a manner must show, an answer without it is out of manner."""
    phrases = parse_phrases(load_phrases().text.replace("required: false", "required: true"))

    assert manner_of(setting_of(WORLD, "en", phrases), "gruff", "I live in Miven.").value == 0.0
