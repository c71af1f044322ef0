"""Answers read into claims."""

import pytest

from unmask.gate.reading.phrases import load_phrases
from unmask.gate.reading.reader import read
from unmask.gate.reading.said import Reading, Said, Stance, Tense
from unmask.gate.reading.setting import Setting, setting_of
from unmask.testing.worlds import gate_world

SETTINGS = {language: setting_of(gate_world(), language, load_phrases()) for language in ("en", "ko")}
HOME, HOME_KO = "Where do you live?", "당신은 어디에 사십니까?"


def reading(text: str, question: str = HOME, language: str = "en") -> Reading:
    """Read an answer of Kaelis."""
    return read(SETTINGS[language], "kaelis", question, text)


def claims(found: Reading, *, firm: bool = True) -> set[tuple[str, str, str, str]]:
    """Return subject, slot, value and stance of the claims."""
    return {
        (said.subject, said.slot, min(said.values, default=said.text), said.stance.value)
        for said in found.said
        if said.firm or not firm
    }


def only(found: Reading) -> Said:
    """Return the one claim there is."""
    (said,) = found.said
    return said


LIVES = ("kaelis", "home", "miven", "stated")
NOT_TULVEN = ("kaelis", "home", "tulven", "denied")


@pytest.mark.parametrize(
    "text",
    [
        "I live in Miven.",
        "Hmph. My home is Miven. Now leave me to my work, and close the gate behind you.",
        "In Miven.",
        "Miven is where I live, and I like it there.",
        "As the keeper of the gate, I call Miven home.",
        "Kaelis lives in Miven.",
        "You will find me in MIVEN.",
    ],
)
def test_a_fact_is_read_in_any_words(text: str) -> None:
    """Grammar, prose, a bare name and the third person say the same."""
    assert LIVES in claims(reading(text))


@pytest.mark.parametrize(
    "text",
    [
        "나는 미벤에 산다.",
        "미벤에서 살고 있소.",
        "제 집은 미벤입니다.",
        "미벤.",
        "카엘리스는 미벤에 산다네.",
        "Kaelis는 Miven에 산다.",
    ],
)
def test_a_fact_is_read_in_korean(text: str) -> None:
    """With particles, endings, elided subjects and Latin names."""
    assert LIVES in claims(reading(text, HOME_KO, "ko"))


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("No, I do not live in Tulven, I live in Miven.", "en"),
        ("Not Tulven but Miven.", "en"),
        ("I live in Miven rather than Tulven.", "en"),
        ("툴벤이 아니라 미벤에 산다네.", "ko"),
    ],
)
def test_denial_reaches_as_far_as_its_clause(text: str, language: str) -> None:
    """What is denied and what is stated stand in one sentence."""
    assert {LIVES, NOT_TULVEN} <= claims(reading(text, HOME if language == "en" else HOME_KO, language))


def test_subjects_are_kept_apart() -> None:
    """A clause about another person makes no claim about the speaker."""
    english = reading("Velka lives in Tulven, but I live in Miven.")
    korean = reading("벨카는 툴벤에 살고, 저는 미벤에 삽니다.", HOME_KO, "ko")

    expected = {LIVES, ("velka", "home", "tulven", "stated")}
    assert claims(english) == claims(korean) == expected


def test_a_further_clause_is_not_of_the_slot_before_it() -> None:
    """Having met somebody is no alliance, before or after one is told of."""
    expected = {("kaelis", "ally", "velka", "stated")}

    assert claims(reading("My ally is Velka, and I once met Doran.")) == expected
    assert claims(reading("I once met Doran, and my ally is Velka.")) == expected


def test_what_is_only_mentioned_counts_for_nobody() -> None:
    """Having met somebody in a town is no claim of living there."""
    assert claims(reading("I once met Velka in Tulven.")) == set()


@pytest.mark.parametrize(
    ("text", "tense"),
    [
        ("I live in Miven.", Tense.PRESENT),
        ("I lived in Miven.", Tense.PAST),
        ("I have lived in Miven.", Tense.PRESENT),
        ("I no longer live in Miven.", Tense.ENDED),
        ("In Miven.", Tense.UNSAID),
    ],
)
def test_tense(text: str, tense: Tense) -> None:
    """When a claim is said to hold."""
    assert only(reading(text)).tense is tense


def test_unknown_name_in_the_grammar_is_a_claim() -> None:
    """A garbled name is a value that nothing has, not something unread."""
    said = only(reading("I live in Mivan."))

    assert (said.values, said.text, said.firm) == (frozenset(), "Mivan", True)


def test_prose_that_fits_the_grammar_by_chance_is_no_claim() -> None:
    """With a sentence beside it that the grammar does not have, "I am here" says no state."""
    found = reading("I am here. My friend, I dwell in Miven these days.")

    assert claims(found) == {LIVES}
    assert found.unread == ("I am here.",)


@pytest.mark.parametrize(
    ("text", "question", "language"),
    [
        ("I know nothing of my rival.", "Who is your rival?", "en"),
        ("I don't know who my rival is.", "Who is your rival?", "en"),
        ("That I cannot say.", "Who is your rival?", "en"),
        ("모르겠소.", "당신의 적수는 누구요?", "ko"),
    ],
)
def test_admissions(text: str, question: str, language: str) -> None:
    """Not knowing is said in many ways, and of what was asked."""
    (admission,) = reading(text, question, language).admissions

    assert (admission.subject, admission.slot) == ("kaelis", "rival")


def test_who_sealed_whom() -> None:
    """Active and passive, lists and particles: the sealed one is never taken for a sealer."""
    sealers = {("oru", "sealed_by", one, "stated") for one in ("velka", "doran")}

    for text, language in (
        ("Velka and Doran sealed Oru.", "en"),
        ("Oru was sealed by Velka and Doran.", "en"),
        ("Originally it was Velka and Doran who sealed Oru.", "en"),
        ("벨카와 도란이 오루를 봉인했다.", "ko"),
        ("벨카와 도란이오.", "ko"),
    ):
        question = "Who sealed Oru?" if language == "en" else "누가 오루를 봉인했습니까?"
        assert claims(reading(text, question, language)) == sealers, text


def test_a_pronoun_is_who_was_named_last() -> None:
    """After an ally is named, "her home" is the ally's; and so it is where only the question speaks of the ally."""
    question = "What is the home of your ally?"
    hers = ("velka", "home", "tulven", "stated")

    assert hers in claims(reading("My ally is Velka. Her home is Tulven.", question))
    assert claims(reading("Her home is Tulven.", question)) == {hers}


def test_a_bare_name_to_two_questions_accuses_nobody() -> None:
    """It may be of either; it can count for the answer and not against it."""
    assert claims(reading("Tulven.", "What is the home of your ally?")) == set()


def test_questions_state_nothing() -> None:
    """Asking back is no claim."""
    assert reading("Do you think I live in Tulven?").said == ()


def test_every_claim_of_a_denied_value_is_denied() -> None:
    """Korean negation stands behind the verb."""
    found = reading("아니오, 툴벤에 살지 않습니다.", HOME_KO, "ko")

    assert {said.stance for said in found.said} == {Stance.DENIED}


def test_setting_finds_words_of_the_world_only_for_their_slot() -> None:
    """A manner's name is no role."""
    setting: Setting = SETTINGS["en"]

    assert claims(read(setting, "kaelis", "What is your role?", "I am gruff, and a keeper.")) >= {
        ("kaelis", "role", "keeper", "stated")
    }
