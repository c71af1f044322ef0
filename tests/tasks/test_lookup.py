"""Multi-hop look-up: facts that never contradict, paths that are followed, what is refused."""

import re

import pytest

from tests.tasks.drawn import drawn
from unmask.cards import Fact, parse_facts, render_cards, render_triples
from unmask.tasks.item import Split
from unmask.tasks.lookup import PHRASINGS, Lookup
from unmask.tasks.names import is_held_out
from unmask.types import Message, Role

TASK = Lookup()
FACTS = (
    Fact(subject="Kaloren", slot="ally", value="Miven"),
    Fact(subject="Miven", slot="home", value="Dorasen"),
    Fact(subject="Kaloren", slot="home", value="Velka"),
    Fact(subject="Miven", slot="ally", value="Velka"),
    Fact(subject="Kaloren", slot="ally", value="Tulven", denied=True),
    Fact(subject="Tulven", slot="home", value="Basel"),
)
QUESTION = "Follow ally then home from Kaloren."
ANSWER = "ally Miven home Dorasen: Dorasen"


def ask(question: str = QUESTION) -> tuple[Message, ...]:
    """Return a request over the facts."""
    return (Message(role=Role.USER, content=f"{render_triples(FACTS)}\n{question}"),)


def test_the_path_is_followed() -> None:
    """Every hop with the name it leads to, then the value, in any trained or held-out wording."""
    for phrasing in PHRASINGS:
        assert TASK.verify(ask(phrasing.format(name="Kaloren", path="ally then home")), ANSWER).passed


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ally Miven home Dorasen: Velka", "the value is not the end of the path"),
        ("ally Miven home Dorasen: Miven", "the value is not the end of the path"),
        ("ally Miven home Velka: Velka", "Miven home 'Velka' is not a fact of the request"),
        ("ally Velka home Dorasen: Dorasen", "Kaloren ally 'Velka' is not a fact of the request"),
        ("ally Tulven home Basel: Basel", "Kaloren ally 'Tulven' is not a fact of the request"),
        ("home Velka: Velka", "the path is not the one asked for"),
        ("ally Miven: Miven", "the path is not the one asked for"),
        ("ally Miven home Dorasen home Dorasen: Dorasen", "the path is not the one asked for"),
        ("ally Miven  home Dorasen: Dorasen", "the path is not the one asked for"),
        # Reads as "home Da", "ta B" where words are cut anywhere: an odd number of them must not raise.
        ("ally Miven home: Dorasen", "the path is not the one asked for"),
        ("ally Mhome Dorasen: Dorasen", "the path is not the one asked for"),
        ("Dorasen", "no path to follow in the request or in the text"),
        ("ally Miven home Dorasen Dorasen", "no path to follow in the request or in the text"),
    ],
)
def test_corrupted_paths_fail(text: str, reason: str) -> None:
    """Each kind of damage is refused for what it is; a denied fact is no fact."""
    assert TASK.verify(ask(), text).reason == reason


@pytest.mark.parametrize(
    "question", ["", "Follow ally from Nobody.", "Who is Kaloren?", "Follow colour from Kaloren.", "카로렌의 집은?"]
)
def test_requests_without_a_path_fail(question: str) -> None:
    """Without a known name and a known relation there is nothing to follow."""
    assert not TASK.verify(ask(question), ANSWER).passed


def test_a_name_that_holds_a_relation_is_no_hop() -> None:
    """Relations are read as whole words: ``Tarival`` is a name, not a rival."""
    facts = render_cards((Fact(subject="Tarival", slot="home", value="Velka"),))
    messages = (Message(role=Role.USER, content=f"{facts}\nTarival: home?"),)
    assert TASK.verify(messages, "home Velka: Velka").passed


def test_the_checker_names_the_reference() -> None:
    """A wrong answer's reason holds the right one."""
    item = drawn("lookup", Split.TRAIN, 200)[0]
    assert item.answer in TASK.check(item, "0").reason


def test_facts_are_as_many_as_said_and_never_contradict() -> None:
    """A subject has one value a slot, nothing is its own value, and the number of facts is the axis."""
    for item in drawn("lookup", Split.TRAIN, 200):
        facts = parse_facts(item.messages[0].content)
        assert len(facts) == item.difficulty["facts"]
        assert len({(fact.subject, fact.slot) for fact in facts}) == len(facts)
        assert all(fact.subject != fact.value for fact in facts)
        assert len(item.answer.split(": ")[0].split()) == 2 * item.difficulty["hops"]


def test_held_out_phrasings_and_names_are_for_the_test_split_only() -> None:
    """The last two wordings, and the names held out by their hash, appear in the test split and nowhere else."""
    held_out = [
        re.compile(re.escape(phrasing).replace(r"\{name\}", r"\w+").replace(r"\{path\}", r"[\w ]+"))
        for phrasing in PHRASINGS[-2:]
    ]
    for split in Split:
        items = drawn("lookup", split, 200)
        questions = [item.messages[0].content.rsplit("\n", 1)[-1] for item in items]
        assert any(pattern.fullmatch(question) for pattern in held_out for question in questions) == (
            split is Split.TEST
        )
        names = {fact.value for item in items for fact in parse_facts(item.messages[0].content)}
        assert {is_held_out(name) for name in names} == {split is Split.TEST}
