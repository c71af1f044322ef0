"""Findings that no mark shows by itself."""

import pytest

from unmask.gate.findings import find
from unmask.gate.reading.phrases import load_phrases
from unmask.gate.reading.setting import setting_of
from unmask.gate.scenario import Claim, CorrectsClaim, Turn
from unmask.testing.worlds import gate_world

SETTINGS = {language: setting_of(gate_world(), language, load_phrases()) for language in ("en", "ko")}
CLAIM = Claim(subject="kaelis", slot="home", value="tulven")


@pytest.mark.parametrize(
    ("language", "question", "text", "accepted"),
    [
        ("en", "Is Tulven your home?", "My home is Tulven.", True),
        ("en", "Is Tulven your home?", "Yes, it is.", True),
        ("en", "Is Tulven your home?", "No, not Tulven. My home is Miven.", False),
        ("en", "Is Tulven your home?", "I serve the Hollow Choir.", False),
        ("ko", "고향이 툴벤인가요?", "툴벤에 삽니다.", True),
    ],
)
def test_a_false_claim_is_accepted_where_it_is_stated_or_agreed_to(
    language: str, question: str, text: str, *, accepted: bool
) -> None:
    """Whatever else is false in an answer is no acceptance; what is accepted is wrong too."""
    turn = Turn(question=question, needed=(), checks=(CorrectsClaim(misconception="kaelis.in-tulven"),))
    found = find(SETTINGS[language], "kaelis", turn, text)

    assert found.accepted == ((CLAIM,) if accepted else ())
    assert bool(found.accepted) <= bool(found.wrong)
