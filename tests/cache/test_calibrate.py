"""Behaviour of `unmask.cache.calibrate`."""

from random import Random

import pytest

from unmask.cache.calibrate import Origin, Pair, calibrate, draw_pairs, measure
from unmask.cache.guard import difference, tokens_of
from unmask.knowledge.embedding import NgramEmbedder
from unmask.stats import Interval
from unmask.tasks.item import Split

COUNT = 40


@pytest.fixture(scope="module")
def pairs() -> dict[Origin, tuple[Pair, ...]]:
    """Some pairs of each origin."""
    return {origin: draw_pairs(Random(0), Split.CALIBRATE, origin, COUNT) for origin in Origin}


@pytest.mark.parametrize("origin", Origin)
def test_pairs_differ_in_their_words_and_half_ask_the_same(
    pairs: dict[Origin, tuple[Pair, ...]], origin: Origin
) -> None:
    """The same words would need no likeness; the same seed draws the same pairs."""
    drawn = pairs[origin]

    assert all(pair.one != pair.other for pair in drawn)
    assert sum(pair.is_same for pair in drawn) == COUNT // 2
    assert drawn == draw_pairs(Random(0), Split.CALIBRATE, origin, COUNT)


@pytest.mark.parametrize("origin", Origin)
def test_the_guard_lets_through_no_pair_that_asks_for_something_else(
    pairs: dict[Origin, tuple[Pair, ...]], origin: Origin
) -> None:
    """Of dialogue and Korean pairs most that ask the same, of lookups none: there names stand in other places."""
    passed = [pair for pair in pairs[origin] if difference(tokens_of(pair.one), tokens_of(pair.other)) is None]

    assert all(pair.is_same for pair in passed)
    assert bool(passed) == (origin is not Origin.LOOKUP)


def test_a_threshold_keeps_nearly_all_that_the_guard_lets_through(pairs: dict[Origin, tuple[Pair, ...]]) -> None:
    """And vectors alone would take others for the same, which the guard does not."""
    chosen = [pair for origin in Origin for pair in pairs[origin]]
    least = calibrate(chosen, NgramEmbedder())
    assert least is not None
    figures = measure(pairs[Origin.DIALOGUE], NgramEmbedder(), least)

    assert isinstance(figures.guarded.found, Interval)
    assert isinstance(figures.guarded.false, Interval)
    assert isinstance(figures.vectors.false, Interval)
    assert figures.guarded.found.estimate > 0.8
    assert figures.guarded.false.estimate == 0.0
    assert figures.vectors.false.estimate > 0.2


def test_there_is_no_threshold_where_nothing_is_let_through(pairs: dict[Origin, tuple[Pair, ...]]) -> None:
    """A figure would rest on nothing."""
    assert calibrate(pairs[Origin.LOOKUP], NgramEmbedder()) is None
