"""Right answers made wrong."""

from random import Random

import pytest

from unmask.gate.deterministic import score_response
from unmask.gate.mutations import Mutation, mutate
from unmask.gate.plain import plain_claim, with_particles
from unmask.gate.reading.phrases import load_phrases
from unmask.gate.reading.setting import setting_of
from unmask.gate.scenario import AdmitsUnknown, Check, CorrectsClaim, KeepsManner, StatesFact
from unmask.testing.worlds import gate_response, gate_scenario, gate_world

WORLD = gate_world()
SETTINGS = {language: setting_of(WORLD, language, load_phrases()) for language in ("en", "ko")}
HOME = StatesFact(statement="kaelis.home")
TRAP = CorrectsClaim(misconception="kaelis.in-tulven")
UNKNOWN = AdmitsUnknown(subject="kaelis", slot="rival")
MANNER = KeepsManner(persona="gruff")

ANSWERS = [
    ("Where do you live?", "Hmph. I live in Miven.", (HOME, MANNER), "en"),
    ("Is Tulven your home?", "It is not Tulven. I live in Miven.", (TRAP,), "en"),
    ("Who is your rival?", "I know nothing of my rival.", (UNKNOWN,), "en"),
    ("당신은 어디에 사십니까?", "흥, 나는 미벤에 산다.", (HOME, MANNER), "ko"),
    ("당신은 툴벤에 사십니까?", "툴벤이 아니라 미벤에 산다네.", (TRAP,), "ko"),
    ("당신의 적수는 누구요?", "모르겠소.", (UNKNOWN,), "ko"),
]


@pytest.mark.parametrize(("question", "text", "checks", "language"), ANSWERS)
def test_code_passes_the_answer_and_catches_every_mutation(
    question: str, text: str, checks: tuple[Check, ...], language: str
) -> None:
    """In both languages, each kind of mutation costs the metric that it names its full mark."""
    scenario = gate_scenario(question, *checks, language=language)
    setting = SETTINGS[language]
    mutated = mutate(setting, "kaelis", scenario.turns[0], text, Random(0))

    assert mutated
    for one in mutated:
        right = {mark.metric: mark.value for mark in score_response(gate_response(text), scenario, setting).marks}
        wrong = {mark.metric: mark.value for mark in score_response(gate_response(one.text), scenario, setting).marks}
        assert right[one.metric] == 1.0
        assert wrong[one.metric] != 1.0, one


def test_every_kind_of_mutation_is_made() -> None:
    """None of them is dead."""
    made = {
        one.mutation
        for question, text, checks, language in ANSWERS
        for one in mutate(SETTINGS[language], "kaelis", gate_scenario(question, *checks).turns[0], text, Random(0))
    }

    assert made == set(Mutation)


def test_mutations_are_the_same_for_a_seed() -> None:
    """What a judge was tried on can be made again."""
    turn = gate_scenario("Who is your rival?", UNKNOWN).turns[0]
    text = "I know nothing of my rival."

    first, second = (mutate(SETTINGS["en"], "kaelis", turn, text, Random(3)) for _ in range(2))
    assert first == second


def test_a_swapped_value_is_the_one_it_is_mistaken_for() -> None:
    """A look-alike is harder to see than a value drawn from anywhere."""
    turn = gate_scenario("Where?", HOME).turns[0]
    swapped = mutate(SETTINGS["en"], "kaelis", turn, "I live in Miven.", Random(0))[0]

    assert swapped.text == "I live in Tulven."


def test_an_answer_without_anything_to_change_has_no_mutations() -> None:
    """Nothing is made up."""
    assert mutate(SETTINGS["en"], "kaelis", gate_scenario("Where?").turns[0], "Somewhere.", Random(0)) == ()


@pytest.mark.parametrize(("word", "text"), [("미벤", "미벤은 멀다"), ("벨카", "벨카는 멀다")])
def test_particles_go_with_the_word_before_them(word: str, text: str) -> None:
    """Else a swapped name could be told by its particle alone."""
    assert with_particles("Qe0Z은 멀다", "Qe0Z", word) == text


def test_plain_claims() -> None:
    """Both languages, both persons, stated and denied."""
    english, korean = SETTINGS["en"], SETTINGS["ko"]

    assert plain_claim(english, "kaelis", "kaelis", "home", "miven") == "My home is Miven."
    assert plain_claim(english, "kaelis", "velka", "home", "miven", denied=True) == "Velka's home is not Miven."
    assert plain_claim(korean, "kaelis", "kaelis", "home", "miven") == "제 집은 미벤입니다."
    assert plain_claim(korean, "kaelis", "velka", "home", "miven", denied=True) == "벨카의 집은 미벤이 아닙니다."
