"""Finality: a light learned score of whether a position's draft token is what the full run ends with.

The idea is that of Learn2PD (Bao et al. 2025, arXiv 2509.25188), whose filter reads a block's confidences; here a
score reads a few signals of each position and its neighbours. Serving and training compute features by the same
function, training from traces.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.policy.exit_rule import MOST_LOG_ODDS
from unmask.strategy import FinalityModel
from unmask.types import StepTrace

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

FEATURES = (
    "log_odds",
    "neighbour_log_odds",
    "mean_log_odds",
    "age",
    "first_step",
    "left_fixed",
    "right_fixed",
    "open_share",
    "place",
    "is_end",
)
"""What a score reads of each candidate, in this order; `features` says what each is."""

LONGEST_AGE = 16
ODDS_DECIMALS = 2
SCORE_DECIMALS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """A canvas before a step, as far as finality is concerned; arrays are ``[length]``.

    Attributes:
        log_odds: of the draft's tokens, unbounded; read at open positions only.
        draft: the canvas as it would be if the step were its last: see `closed`.
        open: positions that are masked.
        horizon: how many positions matter: up to and including the draft's first end token, within the limit.
        age: steps for which the draft token has stayed the same; see `ages`.
        step: steps the canvas has taken.
        end: id of the end token.
    """

    log_odds: Floats
    draft: Ints
    open: Flags
    horizon: int
    age: Ints
    step: int
    end: int

    @property
    def candidates(self) -> Flags:
        """Open positions up to the horizon."""
        found = self.open.copy()
        found[self.horizon :] = False
        return found


def features(sight: Sight) -> Floats:
    """Return the features of every candidate, ``[candidates, len(FEATURES)]``.

    ``log_odds``: of the draft token, within ±10. ``neighbour_log_odds``: the lesser of those left and right; what is
    fixed, the context and what is behind the horizon count as 10. ``mean_log_odds``: over the candidates. ``age``:
    ln(1 + steps for which the token has stayed the same), of at most 16. ``first_step``: 1 where there was no step
    before. ``left_fixed``, ``right_fixed``: 1 where the neighbour counts as 10. ``open_share``: candidates among the
    positions up to the horizon. ``place``: from 0 for the first candidate to 1 for the last. ``is_end``: 1 for an end
    token. Log-odds are rounded to two decimals, so that a trace's single precision says the same as serving.
    """
    places = np.flatnonzero(sight.candidates)
    count = len(places)
    odds = np.full(len(sight.open) + 2, MOST_LOG_ODDS)
    own = np.clip(sight.log_odds[places], -MOST_LOG_ODDS, MOST_LOG_ODDS).round(ODDS_DECIMALS)
    odds[places + 1] = own
    fixed = np.ones(len(odds))
    fixed[places + 1] = 0.0
    found = np.empty((count, len(FEATURES)))
    found[:, 0] = own
    found[:, 1] = np.minimum(odds[places], odds[places + 2])
    found[:, 2] = own.mean() if count else 0.0
    found[:, 3] = np.log1p(np.minimum(sight.age[places], LONGEST_AGE))
    found[:, 4] = sight.step == 0
    found[:, 5] = fixed[places]
    found[:, 6] = fixed[places + 2]
    found[:, 7] = count / max(sight.horizon, 1)
    found[:, 8] = np.arange(count) / max(count - 1, 1)
    found[:, 9] = sight.draft[places] == sight.end
    return found


def score(model: FinalityModel, found: Floats) -> Floats:
    """Return the log-odds of finality for each row of features, rounded so that no last bit decides."""
    # Sums of products in place of a matrix product, whose last bits depend on the number of rows.
    values = (found - np.array(model.centre)) / np.array(model.scale)
    if model.hidden:
        units = [(values * np.array(unit.weights)).sum(-1) + unit.bias for unit in model.hidden]
        values = np.maximum(np.stack(units, axis=-1), 0.0)
    odds: Floats = ((values * np.array(model.weights)).sum(-1) + model.bias).round(SCORE_DECIMALS)
    return odds


def least_score(threshold: float) -> float:
    """Return the log-odds of a threshold: −∞ for 0, which all reach, and ∞ for 1, which nothing does."""
    if threshold <= 0 or threshold >= 1:
        return math.copysign(math.inf, threshold - 0.5)
    return math.log(threshold) - math.log1p(-threshold)


def closed(tokens: Ints, end: int) -> Ints:
    """Return a canvas with end tokens behind its first one, as drafts of traces have them."""
    ends = np.flatnonzero(tokens == end)
    if not len(ends):
        return tokens
    result = tokens.copy()
    result[ends[0] :] = end
    return result


def ages(draft: Ints, previous: Ints | None, age: Ints | None) -> Ints:
    """Return for how many steps each token of a closed draft has stayed the same: 0 at first, and after a change."""
    if previous is None or age is None:
        return np.zeros(len(draft), dtype=np.int64)
    return np.where(draft == previous, age + 1, 0)


def sights(canvas: Sequence[StepTrace], end: int) -> Iterator[Sight]:
    """Yield each step of one canvas from its trace, with the features that serving has at that step.

    The canvas started from masks alone, and all of it might have become output: no `unmask.types.Draft`, and
    ``max_tokens`` a multiple of the canvas length.
    """
    previous: Ints | None = None
    age: Ints | None = None
    fixed: Flags = np.zeros(len(canvas[0].draft) if canvas else 0, dtype=np.bool_)
    for entry in canvas:
        draft = np.array(entry.draft, dtype=np.int64)
        age = ages(draft, previous, age)
        ends = np.flatnonzero(draft == end)
        yield Sight(
            log_odds=_log_odds(np.array(entry.confidence, dtype=np.float64)),
            draft=draft,
            open=~fixed,
            horizon=int(ends[0]) + 1 if len(ends) else len(draft),
            age=age,
            step=entry.step,
            end=end,
        )
        previous, fixed = draft, np.array(entry.fixed, dtype=np.bool_)


def finality_fault(model: FinalityModel) -> str | None:
    """Say what keeps a model from being used, if anything: it was learnt for other features, or is no number."""
    inputs = len(model.hidden) or len(FEATURES)
    sizes = (len(model.centre), len(model.scale), *(len(unit.weights) for unit in model.hidden))
    if any(size != len(FEATURES) for size in sizes) or len(model.weights) != inputs:
        return f"it does not read the {len(FEATURES)} features there are"
    numbers = (*model.centre, *model.scale, *model.weights, model.bias)
    hidden = (number for unit in model.hidden for number in (*unit.weights, unit.bias))
    if not all(map(math.isfinite, (*numbers, *hidden))) or 0 in model.scale:
        return "it holds numbers that are not finite, or divides by 0"
    if not 0 <= model.threshold <= 1:
        return f"its threshold, {model.threshold}, is no probability"
    return None


def _log_odds(probability: Floats) -> Floats:
    # Nearer to 0 and 1 than features can tell apart.
    inner = np.clip(probability, 1e-6, 1 - 1e-6)
    odds: Floats = np.log(inner) - np.log1p(-inner)
    return odds
