"""KLASS: sure and settled since the step before."""

import torch
from torch import Tensor

from tests.engine.strategies.handmade import revealed, sure, view
from unmask.engine.signals import Signals
from unmask.engine.strategies.klass import Klass


def seen(distributions: list[list[float]]) -> Signals:
    """Return signals of positions by their distributions."""
    table = torch.tensor(distributions, dtype=torch.float32)
    signals = sure([max(row) for row in distributions])
    return Signals(
        tokens=signals.tokens,
        probability=signals.probability,
        confidence=signals.confidence,
        gap=None,
        entropy=None,
        log_probabilities=table.log(),
    )


FLAT = [0.5, 0.5, 0.0]
SURE = [0.95, 0.05, 0.0]
SURER = [0.99, 0.01, 0.0]


def test_a_first_step_reveals_the_surest_alone() -> None:
    """With no step before, nothing is settled, however sure all are."""
    update = Klass().step(view([0] * 3), seen([SURE, SURER, SURE]), None)

    assert revealed(update) == [1]


def test_a_second_step_reveals_what_is_sure_and_settled() -> None:
    """Sure positions whose distribution has not moved go together; sure but moved and settled but unsure wait."""
    klass = Klass()
    state = klass.step(view([0] * 4), seen([SURE, FLAT, FLAT, SURE]), None).state
    update = klass.step(view([0] * 4, step=1, steps_left=3), seen([SURE, SURER, FLAT, SURE]), state)

    assert revealed(update) == [0, 3]


def test_both_comparisons_are_strict() -> None:
    """A probability equal to the threshold is not sure, a divergence equal to the bound is not settled."""
    before = torch.tensor([[0.75, 0.25], [0.5, 0.5]]).log()
    now = seen([[0.75, 0.25], [0.1, 0.9]])
    moved = float((torch.tensor([0.1, 0.9]) * (torch.tensor([0.1, 0.9]).log() - before[1])).sum())

    # The second is surer but has moved; it is what is forced where the first is not sure enough.
    assert revealed(Klass(threshold=0.75).step(view([0] * 2), now, before)) == [1]
    assert revealed(Klass(threshold=0.74).step(view([0] * 2), now, before)) == [0]
    assert revealed(Klass(threshold=0.5, divergence=moved).step(view([0] * 2), now, before)) == [0]
    assert revealed(Klass(threshold=0.5, divergence=moved * 1.001).step(view([0] * 2), now, before)) == [0, 1]


def test_without_any_the_surest_is_forced() -> None:
    """Where none is both sure and settled the surest candidate is revealed."""
    klass = Klass()
    state = klass.step(view([0] * 3), seen([FLAT, FLAT, FLAT]), None).state
    update = klass.step(view([0] * 3, step=1), seen([FLAT, FLAT, SURER]), state)

    assert revealed(update) == [2]


def test_the_state_is_a_copy_of_its_own() -> None:
    """What is remembered does not keep the whole batch's distributions alive."""
    signals = seen([SURE, FLAT])
    state = Klass().step(view([0] * 2), signals, None).state

    assert isinstance(state, Tensor)
    assert signals.log_probabilities is not None
    assert state.data_ptr() != signals.log_probabilities.data_ptr()
