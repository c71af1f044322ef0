"""Progress signals by hand: which positions they are over, and what they compare with."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from unmask.engine.progress import Earlier, Step, measure, needs_of, remember
from unmask.engine.signals import Draw, Ints, Needs, observe
from unmask.policy.exit_rule import MEASURED
from unmask.types import ProgressSignal, Sampling

EVERYTHING = frozenset(MEASURED)
FORBIDDEN = 0


def ints(*values: int) -> Ints:
    """Return an array of ids or positions."""
    return np.array(values, dtype=np.int64)


def step_of(logits: Tensor, draft: Ints, fillable: Ints, asked: Ints | None = None) -> Step:
    """Return a step whose network has said ``logits [asked, vocabulary]``; id 0 is never drawn."""
    logits = logits.clone()
    logits[:, FORBIDDEN] = -float("inf")
    places = tuple(range(len(draft))) if asked is None else tuple(asked.tolist())
    draw = Draw(places=places, span=len(draft), sampling=Sampling(), canvas=0, step=0)
    (signals,) = observe(logits, [draw], needs_of(EVERYTHING))
    assert signals is not None
    return Step(asked=ints(*places), signals=signals, draft=draft, fillable=fillable)


def logits_of(*probabilities: tuple[float, float, float]) -> Tensor:
    """Return logits of positions over three tokens, after an id that is never drawn."""
    return torch.tensor([(9.0, *map(math.log, place)) for place in probabilities])


LOGITS = logits_of((0.8, 0.1, 0.1), (0.3, 0.6, 0.1), (0.5, 0.25, 0.25), (0.98, 0.01, 0.01))


def test_signals_are_over_what_an_exit_would_fill() -> None:
    """Of four positions the middle two are filled; each signal is worked out from these alone."""
    found = measure(step_of(LOGITS, ints(1, 2, 1, 1), ints(1, 2)), None, EVERYTHING)
    entropies = [-sum(p * math.log(p) for p in place) for place in ((0.3, 0.6, 0.1), (0.5, 0.25, 0.25))]

    assert found.filled == 2
    assert found[ProgressSignal.CONFIDENCE_MEAN] == pytest.approx(0.55, abs=1e-3)
    assert found[ProgressSignal.CONFIDENCE_MIN] == found[ProgressSignal.CONFIDENCE_P10] == pytest.approx(0.5, abs=1e-3)
    assert found[ProgressSignal.GAP] == pytest.approx(math.log(2), abs=1e-4)
    assert found[ProgressSignal.ENTROPY] == pytest.approx(sum(entropies) / 2, abs=1e-4)
    assert (found[ProgressSignal.FLIPS], found[ProgressSignal.KL]) == (None, None)


def test_the_tenth_percentile_is_a_value_there_is() -> None:
    """Of twenty probabilities it is the second smallest."""
    odds = torch.linspace(-2, 2, 20)
    logits = torch.stack((torch.zeros(20), odds, torch.zeros(20)), dim=-1)
    step = step_of(logits, ints(*[1] * 20), ints(*range(20)))
    # Where the first token is the less likely one, the other is drawn.
    expected = sorted((1 / (1 + math.exp(-abs(value)))) for value in odds.tolist())

    assert measure(step, None, EVERYTHING)[ProgressSignal.CONFIDENCE_P10] == pytest.approx(expected[1], abs=1e-3)


def test_changes_are_since_the_step_before() -> None:
    """A draft token that changed is a flip wherever it stood; divergence is over what was open at both steps."""
    before = step_of(logits_of(*[(0.5, 0.25, 0.25)] * 4), ints(1, 1, 1, 1), ints(0, 1, 2))
    earlier = remember(before, ints(0, 2, 3), EVERYTHING)
    found = measure(step_of(LOGITS, ints(1, 2, 1, 1), ints(0, 1, 2)), earlier, EVERYTHING)
    divergence = 0.8 * math.log(1.6) + 0.2 * math.log(0.4)

    assert found[ProgressSignal.FLIPS] == pytest.approx(1 / 3)
    assert found[ProgressSignal.KL] == pytest.approx(divergence / 2, abs=1e-4)


def test_positions_without_a_step_before_have_no_divergence() -> None:
    """One that was reopened had no distribution; without any other there is no value."""
    step = step_of(LOGITS, ints(1, 2, 1, 1), ints(1))
    earlier = remember(step, ints(0, 2), EVERYTHING)

    assert measure(step, earlier, EVERYTHING)[ProgressSignal.KL] is None


def test_positions_that_were_not_asked_for_are_nobodys() -> None:
    """Signals of fewer positions than the canvas has are found by position."""
    earlier = remember(step_of(LOGITS, ints(1, 2, 1, 1), ints(0, 1, 2, 3)), ints(0, 1, 2, 3), EVERYTHING)
    whole = measure(step_of(LOGITS, ints(1, 2, 1, 1), ints(1, 3)), earlier, EVERYTHING)
    part = measure(step_of(LOGITS[[1, 3]], ints(1, 2, 1, 1), ints(1, 3), asked=ints(1, 3)), earlier, EVERYTHING)

    assert whole == part


def test_only_what_is_wanted_is_measured_and_remembered() -> None:
    """Distributions are large, so they are kept for divergence alone."""
    step = step_of(LOGITS, ints(1, 2, 1, 1), ints(0, 1))
    flips = frozenset({ProgressSignal.FLIPS})
    kept = remember(step, ints(0, 1), flips)

    assert [signal for signal, _ in measure(step, None, flips).values] == [ProgressSignal.FLIPS]
    assert kept is not None
    assert kept.log_probabilities is None
    assert remember(step, ints(0, 1), frozenset({ProgressSignal.GAP})) is None
    assert needs_of(flips) == Needs()
    assert needs_of(frozenset({ProgressSignal.KL, ProgressSignal.GAP})) == Needs(gap=True, log_probabilities=True)


def test_a_rule_on_divergence_that_begins_late_has_no_value_at_first() -> None:
    """What was remembered for flips alone has no distributions to compare with."""
    step = step_of(LOGITS, ints(1, 2, 1, 1), ints(0, 1))
    earlier = Earlier(draft=step.draft, places=ints(0, 1), log_probabilities=None)

    assert measure(step, earlier, EVERYTHING)[ProgressSignal.KL] is None


def test_nothing_to_fill_has_no_values() -> None:
    """A canvas that is finished, or is left with what it reopened, tells nothing."""
    found = measure(step_of(LOGITS, ints(1, 2, 1, 1), ints()), None, EVERYTHING)

    assert (found.filled, {value for _, value in found.values}) == (0, {None})


def test_the_last_bits_do_not_count() -> None:
    """A disturbance as large as that of a matrix product leaves every signal as it is."""
    before = remember(step_of(LOGITS + 0.3, ints(1, 2, 1, 1), ints(0, 1, 2, 3)), ints(0, 1, 2, 3), EVERYTHING)
    noise = torch.tensor([[0.0, 1.0, -1.0, 0.5]]) * 1e-6
    found, disturbed = (
        measure(step_of(logits, ints(1, 2, 1, 1), ints(0, 1, 2, 3)), before, EVERYTHING)
        for logits in (LOGITS, LOGITS + noise)
    )

    assert found == disturbed
