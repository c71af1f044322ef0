"""How far two ways of serving a model give the same answers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unmask.bench.report import Figure, measured
from unmask.stats import Interval, betting_mean, paired_difference, wilson
from unmask.tasks.item import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An item's answer: its output tokens, up to and including the first end token."""

    item: Item
    tokens: tuple[int, ...]
    steps: int
    seconds: float
    is_right: bool


def equal_share(one: Sequence[int], other: Sequence[int]) -> float:
    """Return the share of equal tokens, place by place; what only the longer one has is not equal."""
    longest = max(len(one), len(other))
    return sum(a == b for a, b in zip(one, other, strict=False)) / longest if longest else 1.0


def agreement_figures(arm: str, off: Sequence[Answer], on: Sequence[Answer], seed: int) -> list[Figure]:
    """Return shares of equal tokens and of equal answers, with intervals over items, and right answers of both.

    Args:
        arm: name of the arm ``on``.
        off: answers of the arm that is compared with.
        on: of the same items, in the same order.
        seed: of resampling.
    """
    pairs = list(zip(off, on, strict=True))
    shares = np.array([equal_share(one.tokens, other.tokens) for one, other in pairs])
    same = sum(one.tokens == other.tokens for one, other in pairs)
    count, tokens = len(pairs), betting_mean(shares)
    below = (
        Interval(estimate=tokens.estimate - 1, low=tokens.low - 1, high=tokens.high - 1)
        if isinstance(tokens, Interval)
        else tokens
    )
    right, other_right = (np.array([answer.is_right for answer in answers], dtype=float) for answers in (off, on))
    difference = paired_difference(other_right, right, seed, bounds=(-1.0, 1.0))
    mean = float(shares.mean())
    return [
        measured("tokens_equal", tokens, fallback=mean, n=count, note="mean over items"),
        measured("tokens_vs_off", below, fallback=mean - 1, n=count, note="the same, less 1"),
        measured("answers_equal", wilson(same, count), fallback=same / count, n=count),
        *(
            measured(f"{name}.quality", wilson(int(passed.sum()), count), fallback=float(passed.mean()), n=count)
            for name, passed in (("off", right), (arm, other_right))
        ),
        measured("quality_vs_off", difference, fallback=float((other_right - right).mean()), n=count, note="by item"),
    ]
