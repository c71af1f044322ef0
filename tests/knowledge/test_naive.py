"""Behaviour of the baseline of naive triples."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.cards import parse_facts
from unmask.errors import InvalidRequestError
from unmask.knowledge.context import Context, Form, Reason
from unmask.knowledge.naive import FACTS, SPREAD, naive_triples
from unmask.testing.small_worlds import large_world, small_world

LARGE = large_world(300)
NEEDED = tuple(id_ for id_ in LARGE.statements if not id_.endswith(".age"))


def drawn(needed: tuple[str, ...], seed: int = 0) -> Context:
    """Draw for one speaker."""
    return naive_triples(LARGE, "e3", needed, "en", Random(seed), count_tokens=len)


@given(needed=st.lists(st.sampled_from(NEEDED), max_size=5, unique=True), seed=st.integers(0, 999))
def test_laws(needed: list[str], seed: int) -> None:
    """43 to 63 facts, all needed ones among them, none twice, and the same again for the same seed."""
    context = drawn(tuple(needed), seed)
    ids = [fact.id for fact in context.facts]

    assert FACTS - SPREAD <= len(ids) <= FACTS + SPREAD
    assert set(needed) <= set(ids)
    assert len(set(ids)) == len(ids)
    assert len(parse_facts(context.text)) == len(ids)
    assert {fact.reason for fact in context.facts} == {Reason.NAIVE}
    assert (context.form, context.dropped) == (Form.TRIPLES, ())
    assert drawn(tuple(needed), seed) == context


def test_counts_and_order_vary() -> None:
    """The number of facts and the place of the needed one are drawn."""
    contexts = [drawn(("e3.home",), seed) for seed in range(60)]
    counts = [len(context.facts) for context in contexts]
    places = [[fact.id for fact in context.facts].index("e3.home") for context in contexts]

    assert len(set(counts)) > 10
    assert abs(sum(counts) / 60 - FACTS) < 3
    assert min(places) < 10
    assert max(places) > 40


def test_half_is_from_around_the_speaker() -> None:
    """Facts of the speaker and those next to them are there, and facts of others too."""
    subjects = [fact.id.partition(".")[0] for fact in drawn(("e3.home",)).facts]

    assert subjects.count("e3") >= 3
    assert len(set(subjects)) > 15


def test_a_small_world_gives_all_it_has() -> None:
    """Where there are fewer facts there are all, but those that triples cannot write; needed ones are reported."""
    world = small_world()
    context = naive_triples(world, "jungwoo", ("jungwoo.age", "jungwoo.rival.not"), "ko", Random(1))

    assert {fact.id for fact in context.facts} == {*world.statements, "jungwoo.rival.not"} - {"jungwoo.age"}
    assert context.left_out == ("jungwoo.age",)


def test_unknown_needed_fact_is_refused() -> None:
    """A scenario's mistake is named."""
    with pytest.raises(InvalidRequestError, match=r"e3\.nothing"):
        drawn(("e3.nothing",))
