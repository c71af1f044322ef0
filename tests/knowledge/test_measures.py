"""Behaviour of the measures of a prompt's facts."""

from dataclasses import replace

from unmask.knowledge.context import Context, Form, Injected, Reason
from unmask.knowledge.measures import QueryMeasures, measure, pooled
from unmask.testing.small_worlds import small_world


def context_of(*ids: str) -> Context:
    """Return a context with these facts."""
    facts = tuple(Injected(id=id_, reason=Reason.PINNED, score=1, tokens=1) for id_ in ids)
    return Context(
        world="small", language="en", form=Form.CARDS, entities=(), facts=facts, dropped=(), text="", tokens=0
    )


def test_counts_of_one_query() -> None:
    """A pinned fact is signal only if it is needed; entities are those that needed facts are about or lead to."""
    context = context_of("jungwoo.role", "jungwoo.ally", "haeun.role")

    found = measure(small_world(), context, ("jungwoo.ally", "kaelis.home"))

    assert found == QueryMeasures(injected=3, signal=1, needed=2, entities=3, covered=2)
    assert (found.signal_density, found.recall, found.entity_coverage) == (1 / 3, 1 / 2, 2 / 3)


def test_misconceptions_count() -> None:
    """A record of a misconception is a fact like any other, and is about its subject alone."""
    found = measure(small_world(), context_of("jungwoo.rival.not"), ("jungwoo.rival.not", "jungwoo.rival"))

    assert found == QueryMeasures(injected=1, signal=1, needed=2, entities=2, covered=1)


def test_nothing_needed_or_injected_has_no_rate() -> None:
    """There is no share of nothing."""
    found = measure(small_world(), context_of(), ())

    assert (found.signal_density, found.recall, found.entity_coverage) == (None, None, None)


def test_pooled_adds_up() -> None:
    """Counts are added, rates are not averaged."""
    one = QueryMeasures(injected=2, signal=1, needed=1, entities=1, covered=1)
    other = replace(one, injected=8, signal=1, needed=4)

    assert pooled([one, other]) == QueryMeasures(injected=10, signal=2, needed=5, entities=2, covered=2)
    assert pooled([one, other]).signal_density == 0.2
    assert pooled([]).recall is None
