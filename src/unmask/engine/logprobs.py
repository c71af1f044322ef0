"""Log-probabilities of tokens that a step has fixed, and of the likeliest tokens in their places."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unmask.types import FixedToken, ScoredToken

Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]


def fixed_tokens(logits: Tensor, tokens: Ints, count: int) -> list[FixedToken]:
    """Return each token's log-probability and the ``count`` likeliest tokens in its place.

    Args:
        logits: ``[places, vocabulary]``, −∞ for tokens that cannot be drawn.
        tokens: ``[places]``.
        count: how many alternatives; fewer are returned where fewer tokens can be drawn.
    """
    logs = logits.double().log_softmax(-1)
    chosen = logs.gather(-1, torch.from_numpy(tokens).unsqueeze(-1)).squeeze(-1)
    return [
        FixedToken(chosen=ScoredToken(token=token, logprob=logprob), top=_likeliest(place, count))
        for token, logprob, place in zip(tokens.tolist(), chosen.tolist(), logs.numpy(), strict=True)
    ]


def _likeliest(logs: Doubles, count: int) -> tuple[ScoredToken, ...]:
    """Return the likeliest tokens, likeliest first, of two alike the lower id."""
    if count == 0:
        return ()
    count = min(count, len(logs))
    least = np.partition(logs, -count)[-count]
    ids = np.flatnonzero((logs >= least) & (logs > -np.inf))
    ranked = ids[np.argsort(-logs[ids], kind="stable")][:count]
    return tuple(ScoredToken(token=token, logprob=logs[token].item()) for token in ranked.tolist())
