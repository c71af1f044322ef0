"""Behaviour of `unmask.control.forest`."""

import pytest

from tests.control.values import make_features, stump
from unmask.control.forest import Forest


def test_trees_add_up() -> None:
    """The sum of the base and one leaf a tree; a value at the threshold goes below."""
    forest = Forest(1.0, (stump("digits", 5, 0.25, 0.5), stump("lines", 2, 4.0, 8.0)))

    assert forest.predict(make_features(digits=5, lines=2).values) == 5.25
    assert forest.predict(make_features(digits=6, lines=3).values) == 9.5
    assert (forest.least, forest.greatest) == (5.25, 9.5)


def test_no_tree_is_a_constant() -> None:
    """A forest without trees says its base."""
    forest = Forest(2.5, ())

    assert forest.predict(make_features().values) == forest.least == forest.greatest == 2.5


def test_leaves_are_named() -> None:
    """Inner nodes have no value of their own."""
    assert stump("digits", 5, 0.25, 0.5).leaves == pytest.approx((0.25, 0.5))
