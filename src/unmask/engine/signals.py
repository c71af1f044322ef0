"""What a step's logits say about each canvas position, computed once for all rows of a tick."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unmask.types import Sampling

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]

# Log-odds past this are one: a probability of 1 − 2e-9 is as sure as float32 can tell.
MAX_LOG_ODDS = 20.0
ROUND_DECIMALS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """Per canvas position: the token drawn and how sure the network is of it.

    Attributes:
        tokens: the draft, ``[length]``; fixed positions hold what the network would say there.
        probability: of the drawn token under the undisturbed distribution.
        confidence: its log-odds, rounded: what ranks positions.
        gap: logit of the likeliest token less that of the next, or ``None`` where not asked for.
        entropy: nats, or ``None`` where not asked for.
        log_probabilities: ``[length, vocabulary]``, or ``None`` where not asked for.
    """

    tokens: Ints
    probability: Floats
    confidence: Floats
    gap: Floats | None
    entropy: Floats | None
    log_probabilities: Tensor | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """Signals that cost a pass over the vocabulary, computed only where a strategy or a trace reads them."""

    gap: bool = False
    entropy: bool = False
    log_probabilities: bool = False

    def __or__(self, other: "Needs") -> "Needs":
        """Return what either needs."""
        return Needs(
            gap=self.gap or other.gap,
            entropy=self.entropy or other.entropy,
            log_probabilities=self.log_probabilities or other.log_probabilities,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """How one row's tokens are drawn; noise is keyed by seed, canvas (or −1: decoding), step and position."""

    length: int
    sampling: Sampling
    canvas: int
    step: int


def observe(logits: Tensor, draws: Sequence[Draw], needs: Needs) -> list[Signals]:
    """Draw tokens and compute signals for rows stacked in ``logits [sum of lengths, vocabulary]``."""
    top, tokens = logits.max(-1)
    normaliser = torch.logsumexp(logits, -1)
    _redraw(logits, draws, tokens)
    chosen = logits.gather(-1, tokens.unsqueeze(-1)).squeeze(-1)
    probability = (chosen - normaliser).exp().numpy()
    gap = (top - logits.scatter(-1, logits.argmax(-1, keepdim=True), float("-inf")).amax(-1)) if needs.gap else None
    logs = logits - normaliser.unsqueeze(-1) if needs.entropy or needs.log_probabilities else None
    entropy = -(logs.exp() * logs.clamp_min(-1e4)).sum(-1) if needs.entropy and logs is not None else None
    confidence = log_odds(probability)
    ids = tokens.numpy()
    rows: list[Signals] = []
    first = 0
    for draw in draws:
        part = slice(first, first + draw.length)
        rows.append(
            Signals(
                tokens=ids[part],
                probability=probability[part],
                confidence=confidence[part],
                gap=None if gap is None else gap[part].numpy(),
                entropy=None if entropy is None else entropy[part].numpy(),
                log_probabilities=logs[part] if needs.log_probabilities and logs is not None else None,
            )
        )
        first += draw.length
    return rows


def log_odds(probability: Floats) -> Floats:
    """Return rounded log-odds, so that the last bits of a matrix product never rank two positions."""
    bounded = np.clip(probability.astype(np.float64), 1e-9, 1 - 1e-9)
    odds = np.clip(np.log(bounded) - np.log1p(-bounded), -MAX_LOG_ODDS, MAX_LOG_ODDS)
    rounded: Floats = np.round(odds, ROUND_DECIMALS).astype(np.float32)
    return rounded


def _redraw(logits: Tensor, draws: Sequence[Draw], tokens: Tensor) -> None:
    """Replace the likeliest tokens of rows with a temperature by drawn ones, in place."""
    first = 0
    for draw in draws:
        if draw.sampling.temperature > 0:
            part = slice(first, first + draw.length)
            tokens[part] = _sample(logits[part], draw)
        first += draw.length


def _sample(logits: Tensor, draw: Draw) -> Tensor:
    """Draw by inverse distribution from one uniform number a position (nucleus: Holtzman et al. 2020)."""
    ranked, order = (logits / draw.sampling.temperature).sort(-1, descending=True, stable=True)
    cumulative = ranked.softmax(-1).double().cumsum(-1)
    # The nucleus is the shortest head that reaches top_p; drawing below its mass draws within it.
    reached = (cumulative < draw.sampling.top_p).sum(-1, keepdim=True).clamp_max(logits.shape[-1] - 1)
    mass = cumulative.gather(-1, reached)
    noise = uniform_noise(draw).unsqueeze(-1) * mass
    rank = (cumulative <= noise).sum(-1, keepdim=True).minimum(reached)
    return order.gather(-1, rank).squeeze(-1)


def uniform_noise(draw: Draw) -> Tensor:
    """Return one number in [0, 1) per position, a pure function of seed, canvas, step and position."""
    key = np.random.SeedSequence([draw.sampling.seed % 2**64, draw.canvas + 1, draw.step])
    return torch.from_numpy(np.random.Generator(np.random.Philox(key)).random(draw.length))
