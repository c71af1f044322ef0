"""Behaviour of `unmask.bench.gate_stages`: what each stage sees, and what it brings."""

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.bench.gate_parts import small_suite
from unmask.bench.gate_stages import STATEMENTS_WITHHELD, Stage, incomplete_world, ways
from unmask.gate.generated import generated_suite
from unmask.gate.retriever import blinded
from unmask.knowledge.context import Context, Reason

SUITE = small_suite()
WAYS = ways(SUITE)
ALL = {stage: [context for scenario in SUITE.scenarios for context in way.contexts(scenario)]
       for stage, way in WAYS.items()}  # fmt: skip


def reasons(contexts: list[Context]) -> set[Reason]:
    """Return why facts are there."""
    return {fact.reason for context in contexts for fact in context.facts}


def needed() -> Iterator[tuple[str, ...]]:
    """Yield what each turn needs, in the order of `ALL`."""
    for scenario in SUITE.scenarios:
        for turn in scenario.turns:
            yield turn.needed


def test_a_share_of_the_graph_is_withheld() -> None:
    """A twentieth of the statements and half of the misconceptions, over many worlds; the same ones each time."""
    worlds = generated_suite(7).worlds.values()
    before, after = Counter[str](), Counter[str]()
    for world in worlds:
        left = incomplete_world(world)
        assert left == incomplete_world(world)
        assert left.digest != world.digest
        assert set(left.statements) < set(world.statements)
        assert all(
            correction in left.statements for one in left.misconceptions.values() for correction in one.correction
        )
        before.update(statements=len(world.statements), misconceptions=len(world.misconceptions))
        after.update(statements=len(left.statements), misconceptions=len(left.misconceptions))

    assert after["statements"] / before["statements"] == pytest.approx(1 - STATEMENTS_WITHHELD, abs=0.002)
    assert after["misconceptions"] / before["misconceptions"] == pytest.approx(0.5 * 0.95, abs=0.03)


def test_the_baseline_has_all_that_is_needed() -> None:
    """It draws on the whole world, and is told."""
    for context, ids in zip(ALL[Stage.NAIVE], needed(), strict=True):
        assert set(ids) <= {fact.id for fact in context.facts}
        assert 43 <= len(context.facts) <= 63


def test_the_graph_alone_pins_nothing_and_corrects_nothing() -> None:
    """What is there was asked for, is on the way, or was told in an earlier turn."""
    assert reasons(ALL[Stage.TYPED]) == {Reason.ASKED, Reason.NEIGHBOUR, Reason.CARRIED}


def test_later_stages_pin_and_correct() -> None:
    """With more to bring once the graph is whole."""
    for stage in (Stage.HYBRID, Stage.COMPLETED):
        assert reasons(ALL[stage]) >= {Reason.PINNED, Reason.ASKED, Reason.CORRECTION}
    hybrid, completed = (
        sum(
            len(set(ids) & {fact.id for fact in context.facts})
            for context, ids in zip(ALL[stage], needed(), strict=True)
        )
        for stage in (Stage.HYBRID, Stage.COMPLETED)
    )
    assert hybrid < completed


@pytest.mark.parametrize("stage", [Stage.TYPED, Stage.HYBRID, Stage.COMPLETED])
def test_only_the_baseline_is_told_what_is_needed(stage: Stage) -> None:
    """A scenario stripped of it gets the same facts."""
    for scenario in SUITE.scenarios:
        assert WAYS[stage].contexts(scenario) == WAYS[stage].contexts(blinded(scenario))


def test_every_stage_says_what_it_is() -> None:
    """No two alike."""
    assert len({(stage.label, stage.words) for stage in Stage}) == len(Stage)
