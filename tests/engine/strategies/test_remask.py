"""Remask: the least sure choice is taken back, once."""

from dataclasses import replace

import numpy as np
import pytest

from tests.engine.strategies.handmade import places, revealed, sure, view
from unmask.engine.strategies.base import Update
from unmask.engine.strategies.remask import Remask, RemaskState


def after(probabilities: list[float], reopened: list[int], tokens: list[int], threshold: float = 0.7) -> Update:
    """Return a step's choice, given the probability at reveal of each position and which were reopened before."""
    state = RemaskState(
        probability=np.array(probabilities, dtype=np.float32), reopened=np.isin(np.arange(len(tokens)), reopened)
    )
    return Remask(threshold=threshold).step(view(tokens), sure([0.9] * len(tokens)), state)


def test_a_first_step_reopens_nothing() -> None:
    """There is no earlier choice to take back; a draft's tokens count as certain."""
    update = Remask().step(view([0, 9, 0, 9], steps_left=2), sure([0.3, 0.1, 0.4, 0.1]), None)

    assert revealed(update) == [2]
    assert places(update.reopened) == []


def test_the_least_sure_choice_is_reopened() -> None:
    """One position a step: the one with the lowest probability at its reveal, the earlier of two."""
    update = after([0.6, 0.4, 0.4, 1.0], [], [9, 9, 9, 0])

    assert places(update.reopened) == [1]


def test_threshold_is_strict() -> None:
    """A choice as sure as the threshold stays."""
    assert places(after([0.75, 1.0], [], [9, 0], threshold=0.75).reopened) == []
    assert places(after([0.7499, 1.0], [], [9, 0], threshold=0.75).reopened) == [0]


def test_each_position_is_reopened_once_at_most() -> None:
    """A position that was reopened before stays, however unsure it was."""
    update = after([0.1, 0.5, 1.0], [0], [9, 9, 0])

    assert places(update.reopened) == [1]
    assert isinstance(update.state, RemaskState)
    assert places(update.state.reopened) == [0, 1]


def test_frozen_and_open_positions_are_left_alone() -> None:
    """Neither what is frozen nor what is open can be reopened."""
    canvas = replace(view([9, 9, 0]), frozen=np.array([True, False, False]))
    state = RemaskState(probability=np.array([0.1, 0.9, 0.1], dtype=np.float32), reopened=np.zeros(3, dtype=np.bool_))

    assert places(Remask().step(canvas, sure([0.9] * 3), state).reopened) == []


def test_the_quota_goes_on() -> None:
    """Beside reopening, a step reveals its quota and remembers how sure it was."""
    update = Remask().step(view([0] * 4, steps_left=2), sure([0.3, 0.6, 0.2, 0.5]), None)

    assert revealed(update) == [1, 3]
    assert isinstance(update.state, RemaskState)
    assert update.state.probability.tolist() == pytest.approx([1.0, 0.6, 1.0, 0.5])
