"""Marks by code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.gate.deterministic import score_response
from unmask.gate.reading.phrases import load_phrases
from unmask.gate.reading.setting import setting_of
from unmask.gate.scenario import (
    AdmitsUnknown,
    Check,
    Claim,
    CorrectsClaim,
    HasForm,
    KeepsManner,
    NamesEntities,
    Scenario,
    ScenarioKind,
    StatesFact,
    Turn,
)
from unmask.gate.score import Mark, Metric
from unmask.testing.worlds import gate_response, gate_scenario, gate_world

WORLD = gate_world()
SETTINGS = {language: setting_of(WORLD, language, load_phrases()) for language in ("en", "ko")}
HOME = StatesFact(statement="kaelis.home")
TRAP = CorrectsClaim(misconception="kaelis.in-tulven")
UNKNOWN = AdmitsUnknown(subject="kaelis", slot="rival")
FIRST_SEALERS = (StatesFact(statement="oru.first.velka"), StatesFact(statement="oru.first.doran"))
WHERE, IS_IT, WHO = "Where do you live?", "Is Tulven your home?", "Who is your rival?"


def marks(scenario: Scenario, *texts: str, fault: str | None = None) -> dict[Metric, Mark]:
    """Score answers to a scenario."""
    response = gate_response(*texts, fault=fault)
    return {mark.metric: mark for mark in score_response(response, scenario, SETTINGS[scenario.language]).marks}


def values(question: str, text: str, *checks: Check, language: str = "en") -> tuple[float | None, float | None]:
    """Return factual precision and hallucination."""
    found = marks(gate_scenario(question, *checks, language=language), text)
    return found[Metric.FACTUAL_PRECISION].value, found[Metric.HALLUCINATION].value


def test_a_right_answer() -> None:
    """Right and nothing else."""
    assert values(WHERE, "I live in Miven.", HOME) == (1.0, 0.0)


@pytest.mark.parametrize("text", ["I live in Tulven.", "I live in Mivan.", "툴벤에 삽니다."])
def test_another_value_is_wrong_and_the_right_one_missing(text: str) -> None:
    """Of the world or not, in the grammar or in Korean."""
    language = "en" if text.isascii() else "ko"

    assert values(WHERE, text, HOME, language=language) == (0.0, 1.0)


def test_what_was_is_wrong_as_what_is_and_right_as_what_was() -> None:
    """Past and present are told apart, both ways."""
    assert values(WHERE, "My home is Old Harbor.", HOME) == (0.0, 1.0)
    assert values(WHERE, "I no longer live in Old Harbor; Miven is my home now.", HOME) == (1.0, 0.0)
    assert values(WHERE, "I no longer live in Miven.", HOME) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Velka and Doran sealed Oru.", "en"),
        ("The Grey Warden and Doran sealed Oru at first; Tarn came only later.", "en"),
        ("회색 감시자와 도란이 오루를 봉인했소.", "ko"),
    ],
)
def test_a_later_hero_who_is_not_asked_for_is_not_missed(text: str, language: str) -> None:
    """Naming the first sealers alone is a whole answer, and naming the later one beside them does no harm."""
    question = "Who first sealed Oru?" if language == "en" else "누가 처음 오루를 봉인했나?"

    assert values(question, text, *FIRST_SEALERS, language=language) == (1.0, 0.0)


def test_further_facts_do_not_thin_out_an_error() -> None:
    """What is true and was not asked for counts neither way."""
    found = marks(gate_scenario(WHERE, HOME), "I live in Tulven. I am a keeper. My ally is Velka.")

    assert found[Metric.FACTUAL_PRECISION].value == 0.0
    assert any("not counted: kaelis.ally, kaelis.role" in why for why in found[Metric.FACTUAL_PRECISION].why)


@pytest.mark.parametrize(
    ("text", "value", "wrong"),
    [
        ("It is not Tulven. I live in Miven.", 1.0, 0.0),
        ("No, I live in Miven, not in Tulven.", 1.0, 0.0),
        ("Some say Tulven is my home, but that is not true. I live in Miven.", 1.0, 0.0),
        ("Some say Miven is my home.", 0.0, 0.0),
        ("I live in Miven.", 0.0, 0.0),
        ("No.", 0.0, 0.0),
        ("Yes.", 0.0, 1.0),
        ("Yes, Tulven.", 0.0, 1.0),
        ("It is not Miven. I live in Tulven.", 0.0, 1.0),
    ],
)
def test_a_trap_is_put_right_by_denial_and_correction_both(text: str, value: float, wrong: float) -> None:
    """Either alone is not enough, and agreeing is a hallucination."""
    found = marks(gate_scenario(IS_IT, TRAP, kind=ScenarioKind.TRAP), text)

    assert (found[Metric.TRAP_CORRECTED].value, found[Metric.HALLUCINATION].value) == (value, wrong)


def test_half_a_correction_is_looked_at() -> None:
    """Denied and not corrected is borderline."""
    assert marks(gate_scenario(IS_IT, TRAP), "No.")[Metric.TRAP_CORRECTED].borderline


@pytest.mark.parametrize(
    ("text", "language", "precision", "hallucination"),
    [
        ("I know nothing of my rival.", "en", 1.0, 0.0),
        ("적수가 누구인지 모르겠소.", "ko", 1.0, 0.0),
        ("My rival is Doran.", "en", 0.0, 1.0),
        ("제 적수는 도란입니다.", "ko", 0.0, 1.0),
    ],
)
def test_what_nobody_knows_is_to_be_admitted(text: str, language: str, precision: float, hallucination: float) -> None:
    """A name for it is made up."""
    assert values(WHO, text, UNKNOWN, language=language) == (precision, hallucination)


def test_admitting_and_claiming_all_the_same_is_no_admission() -> None:
    """Whoever does not know, but says that it is Doran, claims to know."""
    assert values(WHO, "I know nothing of my rival. My rival is Doran.", UNKNOWN) == (0.0, 1.0)


def test_forbidden_claims_are_hallucinations_even_where_the_world_is_silent() -> None:
    """A free text is not closed, and yet may be forbidden by value."""
    forbidden = (Claim(subject="kaelis", slot="home", value="tulven"),)
    found = marks(gate_scenario(WHERE, HOME, forbidden=forbidden), "I live in Miven. My home is Tulven.")

    assert found[Metric.HALLUCINATION].value == 1.0
    assert found[Metric.FACTUAL_PRECISION].value == 0.5


def test_what_cannot_be_read_counts_neither_way_and_is_told() -> None:
    """Free prose is no hallucination; where nothing was read a person looks."""
    found = marks(gate_scenario(WHERE, HOME), "The river bends twice before dusk.")

    assert found[Metric.HALLUCINATION].value == 0.0
    assert found[Metric.HALLUCINATION].borderline
    assert any("could not be read" in why for why in found[Metric.HALLUCINATION].why)


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("kaelis.motto", "I always say the gate never sleeps."),
        ("velka.motto", "모든 강물이 결국은 바다로 흐른다고 하지."),
    ],
)
def test_free_texts(statement: str, text: str) -> None:
    """A free text is said when enough of it is; a text with a negation of its own is not denied by it."""
    assert values("What is the motto?", text, StatesFact(statement=statement))[0] == 1.0


def test_denied_free_text_is_not_said() -> None:
    """A further negation takes a text back."""
    text = "I would not say that the gate never sleeps."

    assert values("What is your motto?", text, StatesFact(statement="kaelis.motto"))[0] == 0.0


@pytest.mark.parametrize("text", ["Tulven.", "My ally is Velka; her home is Tulven.", "Velka lives in Tulven."])
def test_the_end_of_a_chain_is_right_however_short(text: str) -> None:
    """Asked for the home of an ally, the name alone answers, and is not taken for the speaker's home."""
    assert values("What is the home of your ally?", text, StatesFact(statement="velka.home")) == (1.0, 0.0)


def test_coverage_by_aliases() -> None:
    """Half of the entities named is half."""
    check = NamesEntities(entities=("velka", "doran"))
    found = marks(gate_scenario("Who?", check), "The Grey Warden, I think.")

    assert found[Metric.ENTITY_COVERAGE].value == 0.5


def test_only_metrics_that_apply_have_marks() -> None:
    """A persona question has no trap."""
    found = marks(gate_scenario("Who are you?", KeepsManner(persona="gruff")), "Hmph.")

    assert set(found) == {Metric.HALLUCINATION, Metric.PERSONA, Metric.SECONDS}


@pytest.mark.parametrize(("text", "value"), [("Miven", 1.0), ("Miven, friend", 0.0), ("miven", 0.0)])
def test_form(text: str, value: float) -> None:
    """A form is kept from end to end."""
    check = HasForm(most_characters=5, pattern="[A-Z][a-z]+")

    assert marks(gate_scenario(WHERE, check), text)[Metric.FORMAT].value == value


def conversation() -> Scenario:
    """Return a scenario of two turns."""
    turns = (
        Turn(question=WHERE, needed=(), checks=(HOME,)),
        Turn(question="And your ally?", needed=(), checks=(StatesFact(statement="kaelis.ally"),)),
    )
    return Scenario(
        id="one", world="gate", language="en", kind=ScenarioKind.MULTI_TURN, speaker="kaelis", cluster="c", turns=turns
    )


def test_a_conversation_passes_when_every_turn_does() -> None:
    """The turn that failed is named."""
    assert marks(conversation(), "I live in Miven.", "My ally is Velka.")[Metric.MULTI_TURN].value == 1.0
    failed = marks(conversation(), "I live in Miven.", "My ally is Doran.")[Metric.MULTI_TURN]

    assert failed.value == 0.0
    assert all(why.startswith("turn 2: ") for why in failed.why)


def test_a_fault_leaves_everything_unscored() -> None:
    """What the infrastructure failed is neither right nor wrong."""
    found = marks(gate_scenario(WHERE, HOME), fault="503 for five minutes")

    assert {mark.value for mark in found.values()} == {None}
    assert found[Metric.SECONDS].why == ("503 for five minutes",)


def test_half_a_conversation_is_unscored() -> None:
    """Answers to some of the turns are no answer to the scenario."""
    assert {mark.value for mark in marks(conversation(), "I live in Miven.").values()} == {None}


@given(
    st.text(max_size=300)
    | st.lists(st.sampled_from(["Velka", "Miven", "벨카는", "not", "home", "is", "I", "sealed", ".", ",", "?"])).map(
        " ".join
    )
)
def test_any_answer_has_marks_in_range(text: str) -> None:
    """Whatever a model writes, scoring ends with marks between 0 and 1."""
    for language in ("en", "ko"):
        found = marks(gate_scenario(IS_IT, HOME, TRAP, UNKNOWN, language=language), text)

        assert all(mark.value is not None and 0 <= mark.value <= 1 for mark in found.values())
