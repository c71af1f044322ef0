"""The fact-card format: both renderings read back, everything else is ignored."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.cards import SLOTS, Fact, parse_facts, render_cards, render_triples

# Words of any script; a card's own marks cannot be names.
words = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=12).filter(
    lambda word: word.split() == [word] and word not in {"-", "#"}
)
facts = st.builds(Fact, subject=words, slot=st.sampled_from(SLOTS), value=words, denied=st.booleans())
some_facts = st.lists(facts, max_size=12)


def by_subject(facts: list[Fact]) -> tuple[Fact, ...]:
    """Order facts as cards do: by first appearance of their subject, else as given."""
    subjects = list(dict.fromkeys(fact.subject for fact in facts))
    return tuple(fact for subject in subjects for fact in facts if fact.subject == subject)


@given(facts=some_facts)
def test_triples_read_back(facts: list[Fact]) -> None:
    """Facts written as triples are read as they were, in their order."""
    assert parse_facts(render_triples(facts)) == tuple(facts)


@given(facts=some_facts)
def test_cards_read_back(facts: list[Fact]) -> None:
    """Facts written as cards are read as they were, gathered by subject."""
    assert parse_facts(render_cards(facts)) == by_subject(facts)


@given(facts=some_facts, others=some_facts)
def test_renderings_mix(facts: list[Fact], others: list[Fact]) -> None:
    """Cards after triples are read in one go."""
    text = f"{render_triples(others)}\n{render_cards(facts)}"
    assert parse_facts(text) == (*others, *by_subject(facts))


@given(text=st.text(max_size=300))
def test_any_text_is_read_without_raising(text: str) -> None:
    """Whatever stands in a prompt, only well-formed facts come out."""
    assert all(fact.slot in SLOTS and fact.subject and fact.value for fact in parse_facts(text))


def test_both_renderings_look_as_documented() -> None:
    """A card is a heading and a list, a triple is a line; a misconception record says ``not``."""
    facts = (
        Fact(subject="Kaloren", slot="persona", value="gruff"),
        Fact(subject="Miven", slot="role", value="keeper"),
        Fact(subject="Kaloren", slot="rival", value="Tulven", denied=True),
    )
    assert render_cards(facts) == "# Kaloren\n- persona gruff\n- not rival Tulven\n# Miven\n- role keeper"
    assert render_triples(facts) == "Kaloren persona gruff\nMiven role keeper\nKaloren not rival Tulven"


def test_a_denied_claim_is_not_a_claim() -> None:
    """Denied and stated facts are never equal."""
    (denied,) = parse_facts("Kaloren not home Miven")
    assert denied == Fact(subject="Kaloren", slot="home", value="Miven", denied=True)
    assert denied != Fact(subject="Kaloren", slot="home", value="Miven")
    assert denied.claim() == "not home Miven"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "- home Miven",
        "# Kaloren",
        "# Kaloren Miven\n- home Velka",
        "Kaloren home",
        "Kaloren colour red",
        "Kaloren home Port Miven",
        "Kaloren never home Miven",
        "You are Kaloren.",
        "#\n- home Miven",
    ],
)
def test_other_lines_are_ignored(text: str) -> None:
    """A line that is no fact is left alone: no subject, an unknown slot, too few or too many words."""
    assert parse_facts(text) == ()


def test_nothing_renders_as_nothing() -> None:
    """No facts are no text."""
    assert render_cards(()) == render_triples(()) == ""
