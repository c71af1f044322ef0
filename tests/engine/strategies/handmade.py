"""Canvases and signals written down position by position."""

from collections.abc import Sequence

import numpy as np
import torch

from unmask.engine.signals import Flags, Signals, rounded
from unmask.engine.strategies.base import CanvasView, Update

MASK, END = 0, 1


def view(tokens: Sequence[int], *, step: int = 0, steps_left: int = 4, until: int | None = None) -> CanvasView:
    """Return a canvas, open where the mask stands; candidates end before ``until``."""
    ids = np.array(tokens, dtype=np.int64)
    is_open = ids == MASK
    horizon = len(ids) if until is None else until
    candidates = is_open & (np.arange(len(ids)) < horizon)
    return CanvasView(
        tokens=ids,
        open=is_open,
        candidates=candidates,
        quota=-(-int(candidates.sum()) // steps_left),
        frozen=np.zeros(len(ids), dtype=np.bool_),
        step=step,
        steps_left=steps_left,
        horizon=horizon,
        end=END,
    )


def sure(probabilities: Sequence[float], *, gap: Sequence[float] = (), entropy: Sequence[float] = ()) -> Signals:
    """Return signals of positions by how sure the network is of each."""
    probability = torch.tensor(probabilities, dtype=torch.float64)
    return Signals(
        tokens=np.full(len(probabilities), 9, dtype=np.int64),
        probability=probability.float().numpy(),
        confidence=rounded(probability.logit()),
        gap=np.array(gap, dtype=np.float32) if gap else None,
        entropy=np.array(entropy, dtype=np.float32) if entropy else None,
        log_probabilities=None,
    )


def places(flags: Flags | None) -> list[int]:
    """Return where flags are set."""
    return [] if flags is None else np.flatnonzero(flags).tolist()


def revealed(update: Update) -> list[int]:
    """Return which positions a step reveals."""
    return places(update.revealed)
