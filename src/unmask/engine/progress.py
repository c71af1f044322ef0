"""Progress signals of a canvas, from a step's signals and what is remembered of the step before."""

import math
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import assert_never

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unmask.engine.signals import Ints, Needs, Signals
from unmask.policy.exit_rule import MEASURED
from unmask.types import Progress, ProgressSignal

Doubles = NDArray[np.float64]

# Nats and logits are compared to a ten-thousandth, so that the last bits of a matrix product do not decide.
DECIMALS = 4
TAIL = 0.1
# A token that cannot be drawn is −∞, and the difference of two such would be no number.
LEAST_LOG = -1e4


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What signals of change compare with: the step before.

    Attributes:
        draft: the whole canvas as it would have been, ``[length]``.
        places: positions it left open, ascending.
        log_probabilities: of these, ``[places, vocabulary]``, not below `LEAST_LOG`; ``None`` where divergence is not
            asked for.
    """

    draft: Ints
    places: Ints
    log_probabilities: Tensor | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step of a canvas.

    Attributes:
        asked: positions that the signals belong to, ascending.
        signals: of these, in their order.
        draft: the whole canvas as it would be if the step were its last, ``[length]``.
        fillable: positions up to the draft's first end token that were open before the step and still are.
    """

    asked: Ints
    signals: Signals
    draft: Ints
    fillable: Ints


def needs_of(wanted: AbstractSet[ProgressSignal]) -> Needs:
    """Return what progress signals need beyond token and confidence."""
    return Needs(
        gap=ProgressSignal.GAP in wanted,
        entropy=ProgressSignal.ENTROPY in wanted,
        log_probabilities=ProgressSignal.KL in wanted,
    )


def measure(step: Step, earlier: Earlier | None, wanted: AbstractSet[ProgressSignal]) -> Progress:
    """Return the wanted signals of a step, in the order of `MEASURED`."""
    if not len(step.fillable):
        return Progress(filled=0, values=tuple((signal, None) for signal in MEASURED if signal in wanted))
    rows = np.searchsorted(step.asked, step.fillable)
    values = ((signal, _value(signal, step, rows, earlier)) for signal in MEASURED if signal in wanted)
    return Progress(filled=len(rows), values=tuple(values))


def remember(step: Step, still_open: Ints, wanted: AbstractSet[ProgressSignal]) -> Earlier | None:
    """Return what the next step's signals of change compare with, or nothing where none is wanted.

    Args:
        step: the step.
        still_open: positions, of those asked for, that it leaves open.
        wanted: signals that the next step is asked for.
    """
    if ProgressSignal.KL not in wanted and ProgressSignal.FLIPS not in wanted:
        return None
    logs = step.signals.log_probabilities
    kept: Tensor | None = None
    if ProgressSignal.KL in wanted and logs is not None:
        # Indexing copies: a view would keep the whole batch's distributions alive.
        kept = logs[torch.from_numpy(np.searchsorted(step.asked, still_open))].clamp_min_(LEAST_LOG)
    return Earlier(draft=step.draft, places=still_open, log_probabilities=kept)


def _value(signal: ProgressSignal, step: Step, rows: Ints, earlier: Earlier | None) -> float | None:
    match signal:
        case ProgressSignal.FLIPS:
            return None if earlier is None else _flips(step, earlier)
        case ProgressSignal.KL:
            return None if earlier is None else _divergence(step, earlier)
        case ProgressSignal.CONFIDENCE_P10 | ProgressSignal.CONFIDENCE_MEAN | ProgressSignal.CONFIDENCE_MIN:
            return _confidence(signal, step, rows)
        case ProgressSignal.GAP:
            assert step.signals.gap is not None, "asked for in `needs_of`"
            return float(_rounded(step.signals.gap[rows]).min())
        case ProgressSignal.ENTROPY:
            assert step.signals.entropy is not None, "asked for in `needs_of`"
            return float(_rounded(step.signals.entropy[rows]).mean())
        case ProgressSignal.FORMAT:
            raise AssertionError("logits do not tell the format")
        case _:
            assert_never(signal)


def _flips(step: Step, earlier: Earlier) -> float:
    return float((step.draft[step.fillable] != earlier.draft[step.fillable]).mean())


def _divergence(step: Step, earlier: Earlier) -> float | None:
    """Return the mean divergence over positions open at both steps; a reopened one had no distribution before."""
    current = step.signals.log_probabilities
    assert current is not None, "asked for in `needs_of`"
    if earlier.log_probabilities is None:
        return None
    places = np.intersect1d(step.fillable, earlier.places, assume_unique=True)
    if not len(places):
        return None
    now = current[torch.from_numpy(np.searchsorted(step.asked, places))]
    before = earlier.log_probabilities[torch.from_numpy(np.searchsorted(earlier.places, places))]
    mass = now.exp()
    each: Tensor = torch.linalg.vecdot(mass, now.clamp_min_(LEAST_LOG).sub_(before))
    return float(_rounded(each.cpu().numpy()).mean())


def _confidence(signal: ProgressSignal, step: Step, rows: Ints) -> float:
    # Of rounded log-odds, which are the same whoever shares the forward.
    odds = step.signals.confidence[rows]
    if signal is ProgressSignal.CONFIDENCE_MEAN:
        return float((1 / (1 + np.exp(-odds.astype(np.float64)))).mean())
    rank = math.ceil(TAIL * len(odds)) - 1
    least = odds.min() if signal is ProgressSignal.CONFIDENCE_MIN or rank == 0 else np.partition(odds, rank)[rank]
    return 1 / (1 + math.exp(-float(least)))


def _rounded(values: NDArray[np.float32]) -> Doubles:
    """Return numbers that are none below 0, to a ten-thousandth."""
    rounded: Doubles = np.maximum(values.astype(np.float64), 0.0).round(DECIMALS)
    return rounded
