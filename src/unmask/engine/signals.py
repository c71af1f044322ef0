"""What a step's logits say about each canvas position, computed once for all rows of a tick."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unmask.types import Sampling

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]

# Surer than this is all one: a probability of 1 − 2e-9.
MAX_LOG_ODDS = 20.0
ROUND_DECIMALS = 3
INFINITY = float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """Per canvas position: the token drawn and how sure the network is of it.

    Attributes:
        tokens: the draft, ``[length]``; fixed positions hold what the network would say there.
        probability: of the drawn token under the undisturbed distribution; not a number where not asked for.
        confidence: its log-odds, rounded: what ranks positions; not a number where not asked for.
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
    """Signals that cost a pass over the vocabulary, computed only where a strategy or a trace reads them.

    Without ``confidence``, as of rows that draw a token and rank nothing, there is no entropy and no log-probability.
    """

    confidence: bool = True
    gap: bool = False
    entropy: bool = False
    log_probabilities: bool = False

    def __or__(self, other: "Needs") -> "Needs":
        """Return what either needs."""
        return Needs(
            confidence=self.confidence or other.confidence,
            gap=self.gap or other.gap,
            entropy=self.entropy or other.entropy,
            log_probabilities=self.log_probabilities or other.log_probabilities,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """How one row's tokens are drawn; noise is keyed by seed, canvas (or −1: decoding), step and position.

    ``places`` are the positions, of ``span`` in all, that the row's logits belong to.
    """

    places: tuple[int, ...]
    span: int
    sampling: Sampling
    canvas: int
    step: int

    @property
    def length(self) -> int:
        """Number of positions drawn."""
        return len(self.places)


def observe(logits: Tensor, draws: Sequence[Draw], needs: Needs) -> list[Signals | None]:
    """Draw tokens and compute signals for rows stacked in ``logits [sum of lengths, vocabulary]``.

    A row with a logit that is not a number has ``None``: better no answer than a made-up one.
    """
    tokens, top = _likeliest(logits)
    gap = _lead(logits, tokens, top) if needs.gap else None
    _redraw(logits, top, draws, tokens)
    stacked = _stacked(logits, tokens, gap, needs)
    # The largest logit of a position is finite only where every logit is a number and some token can be drawn.
    sound: Flags = np.isfinite(top)
    is_sound = bool(sound.all())
    ends = accumulate(draw.length for draw in draws)
    parts = [slice(end - draw.length, end) for draw, end in zip(draws, ends, strict=True)]
    return [_part(stacked, part) if is_sound or sound[part].all() else None for part in parts]


def _stacked(logits: Tensor, tokens: Ints, gap: Floats | None, needs: Needs) -> Signals:
    """Return the signals of all rows, of drawn tokens and gaps ``[places]``."""
    if not needs.confidence:
        unread = np.full(len(tokens), np.nan, dtype=np.float32)
        return Signals(
            tokens=tokens, probability=unread, confidence=unread, gap=gap, entropy=None, log_probabilities=None
        )
    drawn = _column(tokens, logits)
    mass = logits.softmax(-1)
    logs = logits.log_softmax(-1) if needs.entropy or needs.log_probabilities else None
    entropy = _entropy(mass, logs) if needs.entropy and logs is not None else None
    chosen = mass.gather(-1, drawn)
    # The mass of all other tokens, summed without the chosen one: 1 − p would cancel where the network is sure.
    others = mass.scatter_(-1, drawn, 0.0).sum(-1, keepdim=True)
    odds = (chosen.double() / others.double()).log().squeeze(-1)
    return Signals(
        tokens=tokens,
        probability=odds.sigmoid().float().cpu().numpy(),
        confidence=rounded(odds),
        gap=gap,
        entropy=None if entropy is None else entropy.cpu().numpy(),
        log_probabilities=logs if needs.log_probabilities else None,
    )


def _likeliest(logits: Tensor) -> tuple[Ints, Floats]:
    """Return the likeliest token of each position and its logit, ``[places]`` each."""
    if logits.device.type != "cpu":
        largest, tokens = logits.max(-1)
        return tokens.cpu().numpy(), largest.cpu().numpy()
    # Numpy's is the faster by far, and of equals it takes the first.
    values = logits.numpy()
    likeliest = values.argmax(-1)
    return likeliest, values[np.arange(len(values)), likeliest]


def _lead(logits: Tensor, tokens: Ints, top: Floats) -> Floats:
    """Return how far the logits of the likeliest tokens are ahead of the next, ``[places]``."""
    # Of equals the other one is next, and the lead is 0. A copy and a maximum take a quarter of what a search for two.
    following = logits.scatter(-1, _column(tokens, logits), -INFINITY).amax(-1, keepdim=True)
    lead: Floats = (_column(top, logits) - following).squeeze(-1).cpu().numpy()
    return lead


def _column(values: NDArray[Any], logits: Tensor) -> Tensor:
    """Return a value of each position as ``[places, 1]``, where logits are."""
    return torch.from_numpy(values).unsqueeze(-1).to(logits.device)


def _entropy(mass: Tensor, logs: Tensor) -> Tensor:
    """Return the entropy of each position, ``[places]``, of probabilities and their logarithms."""
    # A token that cannot be drawn has no share, where 0 × −∞ would be no number.
    entropy: Tensor = -torch.linalg.vecdot(mass, logs.clamp_min(-1e4))
    return entropy


def rounded(odds: Tensor) -> Floats:
    """Return bounded, rounded log-odds, so that the last bits of a matrix product do not rank two positions."""
    bounded = odds.clamp(-MAX_LOG_ODDS, MAX_LOG_ODDS).round(decimals=ROUND_DECIMALS)
    result: Floats = bounded.float().cpu().numpy()
    return result


def spread(signals: Signals, places: tuple[int, ...], tokens: Ints) -> Signals:
    """Return signals of ``places`` as signals of a whole canvas; the others hold their own token, as sure as can be."""
    if len(places) == len(tokens):
        return signals
    chosen = list(places)

    def filled(values: Floats, rest: float) -> Floats:
        full = np.full(len(tokens), rest, dtype=np.float32)
        full[chosen] = values
        return full

    whole = tokens.copy()
    whole[chosen] = signals.tokens
    logs = signals.log_probabilities
    return Signals(
        tokens=whole,
        probability=filled(signals.probability, 1.0),
        confidence=filled(signals.confidence, MAX_LOG_ODDS),
        gap=None if signals.gap is None else filled(signals.gap, 0.0),
        entropy=None if signals.entropy is None else filled(signals.entropy, 0.0),
        log_probabilities=None
        if logs is None
        else logs.new_zeros(len(tokens), logs.shape[1]).index_copy_(0, torch.tensor(chosen, dtype=torch.long), logs),
    )


def _part(stacked: Signals, part: slice) -> Signals:
    """Return the signals of one row."""
    return Signals(
        tokens=stacked.tokens[part],
        probability=stacked.probability[part],
        confidence=stacked.confidence[part],
        gap=None if stacked.gap is None else stacked.gap[part],
        entropy=None if stacked.entropy is None else stacked.entropy[part],
        log_probabilities=None if stacked.log_probabilities is None else stacked.log_probabilities[part],
    )


def _redraw(logits: Tensor, top: Floats, draws: Sequence[Draw], tokens: Ints) -> None:
    """Replace the likeliest tokens of rows with a temperature by drawn ones, in place."""
    first = 0
    for draw in draws:
        part = slice(first, first + draw.length)
        if draw.sampling.temperature > 0:
            tokens[part] = sample(logits[part] - _column(top[part], logits), draw).squeeze(-1).cpu().numpy()
        first += draw.length


def sample(logits: Tensor, draw: Draw) -> Tensor:
    """Draw by inverse distribution, in the order of ids, from one uniform number a position.

    The order of ids is the same however the last bits of two likely tokens fall.

    Args:
        logits: ``[length, vocabulary]``, the largest of each position 0.
        draw: how to draw; its temperature is above 0.

    Returns:
        Ids ``[length, 1]``.
    """
    # In double precision first: in single, a tiny temperature is zero, and zero by zero is no number.
    weights = (logits.double() / draw.sampling.temperature).exp()
    if draw.sampling.top_p < 1:
        weights = _nucleus(weights, draw.sampling.top_p)
    cumulative = weights.cumsum(-1)
    mass = cumulative[:, -1:]
    drawn = (cumulative <= uniform_noise(draw).to(logits.device).unsqueeze(-1) * mass).sum(-1, keepdim=True)
    # Where the product rounds up to the mass itself, the last token that has any.
    return drawn.minimum((cumulative < mass).sum(-1, keepdim=True))


def _nucleus(weights: Tensor, top_p: float) -> Tensor:
    """Keep the fewest tokens that reach ``top_p`` of the mass (Holtzman et al. 2020, arXiv 1904.09751)."""
    ranked, order = weights.sort(dim=-1, descending=True, stable=True)
    before = ranked.cumsum(-1) - ranked
    kept = ranked.where(before < top_p * weights.sum(-1, keepdim=True), torch.zeros_like(ranked))
    return torch.zeros_like(weights).scatter_(-1, order, kept)


def uniform_noise(draw: Draw) -> Tensor:
    """Return one number in [0, 1) per position, a pure function of seed, canvas, step and position."""
    key = np.random.SeedSequence([draw.sampling.seed % 2**64, draw.canvas + 1, draw.step])
    return torch.from_numpy(np.random.Generator(np.random.Philox(key)).random(draw.span)[list(draw.places)])
