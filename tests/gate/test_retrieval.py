"""Where a gate run's facts come from."""

import pytest

from unmask.gate.retrieval import NaiveRetrieval, TypedRetrieval, together
from unmask.gate.retriever import blinded
from unmask.gate.suite_named import suite_named
from unmask.knowledge.context import Context, Form, Reason
from unmask.knowledge.embedding import NgramEmbedder
from unmask.knowledge.retriever import Retrieval
from unmask.testing.gate_answers import make_turn_response, small_scenarios
from unmask.testing.small_worlds import small_world


def facts(context: Context) -> set[str]:
    """Return the ids of a prompt's facts."""
    return {fact.id for fact in context.facts}


def test_typed_retrieval_finds_facts_without_being_told_which() -> None:
    """A question in Korean gets the fact that it asks for, from nothing but its words."""
    home, *_ = small_scenarios()
    context = TypedRetrieval(Form.PROSE).context(small_world(), blinded(home), 0, ())

    assert "jungwoo.home" in facts(context)
    assert (context.language, context.form) == ("ko", Form.PROSE)


def test_a_follow_up_knows_what_it_follows() -> None:
    """*Their role* is that of whom the answer before was about; what was told then is still on the card."""
    *_, talk = small_scenarios()
    retrieval, world = TypedRetrieval(Form.CARDS), small_world()
    first = retrieval.context(world, blinded(talk), 0, ())
    second = retrieval.context(world, blinded(talk), 1, (make_turn_response(context=first),))

    assert "jungwoo.ally" in facts(first)
    assert "kaelis.role" in facts(second)
    assert "healer" in second.text
    assert {fact.id for fact in second.facts if fact.reason is Reason.CARRIED} >= {"jungwoo.ally", "jungwoo.persona"}
    assert second.text.count("# Jungwoo") == 1
    assert second.text.splitlines()[: len(first.text.splitlines())] == first.text.splitlines()


def test_a_long_conversation_forgets_its_beginning() -> None:
    """What no longer fits into the budget is dropped, oldest first, and told again when it is needed again."""
    *_, talk = small_scenarios()
    world = small_world()
    first = TypedRetrieval(Form.CARDS).context(world, blinded(talk), 0, ())
    # Just room for one turn's facts: those of the turn before the last are gone.
    narrow = TypedRetrieval(Form.CARDS, Retrieval(budget=first.tokens))
    again = narrow.context(world, blinded(talk), 0, tuple(make_turn_response(context=first) for _ in range(2)))

    assert facts(again) == facts(first)
    assert again.text == first.text


@pytest.mark.parametrize("form", list(Form))
def test_facts_told_twice_are_written_once(form: Form) -> None:
    """In every form a fact that two turns bring stands once."""
    home, *_ = small_scenarios()
    context = TypedRetrieval(form).context(small_world(), blinded(home), 0, ())

    assert together(small_world(), [context], context).text == context.text


def test_naive_triples_hold_what_is_needed_among_the_rest() -> None:
    """The baseline has every needed fact, some fifty others, and the same ones each time."""
    suite = suite_named("generated")
    scenario = suite.scenarios[0]
    world = suite.worlds[scenario.world]
    context = NaiveRetrieval().context(world, scenario, 0, ())

    assert set(scenario.turns[0].needed) <= facts(context)
    assert 43 <= len(context.facts) <= 63
    assert NaiveRetrieval().context(world, scenario, 0, ()) == context


def test_only_the_baseline_is_told() -> None:
    """Who may know what is needed is said where it is, and names tell ways apart."""
    names = {
        NaiveRetrieval().name,
        TypedRetrieval(Form.CARDS).name,
        TypedRetrieval(Form.PROSE).name,
        TypedRetrieval(Form.CARDS, Retrieval(budget=None)).name,
        TypedRetrieval(Form.CARDS, Retrieval(pin_linked=False)).name,
        TypedRetrieval(Form.CARDS, Retrieval(pin_speaker=False)).name,
        TypedRetrieval(Form.CARDS, Retrieval(pin_speaker=False, pin_linked=False)).name,
        TypedRetrieval(Form.CARDS, embedder=NgramEmbedder()).name,
    }

    assert len(names) == 8
    assert NaiveRetrieval().sees_needed
    assert not TypedRetrieval(Form.CARDS).sees_needed
