"""How well a finality score tells what is final, against plain confidence."""

from dataclasses import dataclass

import numpy as np

from unmask.policy.finality import FEATURES, Flags, Floats, score
from unmask.stats import MIN_BOOTSTRAP, Interval, IntervalResult, NotEnoughData, bootstrap_mean, paired_difference
from unmask.strategy import FinalityModel
from unmask.tune.finality_rows import FinalityRows

RESAMPLES = 500
BINS = 10
_TAIL = 0.025
_LEAST = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """How well probabilities tell what is final; every item counts the same, intervals are of resampled items."""

    log_loss: IntervalResult
    auc: IntervalResult


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationBin:
    """Rows whose probability lies within a tenth: the mean probability, and the share that is final.

    Attributes:
        share: of all rows, every item counting the same.
    """

    share: float
    predicted: float
    final: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalityJudgement:
    """A model against confidence, on items that neither training nor any choice has seen.

    Attributes:
        confidence: of the network's own probabilities; ``rescaled`` of the same put to scale on the training rows.
        log_loss_gain: how much lower the model's log loss is than that of rescaled confidence, item by item.
        auc_gain: how much higher its AUC is than confidence's.
    """

    items: int
    rows: int
    model: Skill
    confidence: Skill
    rescaled: Skill
    log_loss_gain: IntervalResult
    auc_gain: IntervalResult
    bins: tuple[CalibrationBin, ...]


def judge_finality(
    model: FinalityModel, rescaled: FinalityModel, rows: FinalityRows, *, seed: int
) -> FinalityJudgement:
    """Judge a model and confidence on the same rows."""
    own = rows.found[:, FEATURES.index("log_odds")]
    odds = {"model": score(model, rows.found), "confidence": own, "rescaled": score(rescaled, rows.found)}
    losses = {name: item_losses(values, rows) for name, values in odds.items()}
    weights = _resampled_weights(rows, seed)
    aucs = {name: _aucs(values, rows.final, weights) for name, values in odds.items()}
    skills = {
        name: Skill(log_loss=bootstrap_mean(losses[name], seed), auc=_spread(aucs[name], len(losses[name])))
        for name in odds
    }
    return FinalityJudgement(
        items=len(losses["model"]),
        rows=len(rows.final),
        model=skills["model"],
        confidence=skills["confidence"],
        rescaled=skills["rescaled"],
        log_loss_gain=paired_difference(losses["rescaled"], losses["model"], seed),
        auc_gain=_spread(aucs["model"] - aucs["confidence"], len(losses["model"])),
        bins=_bins(odds["model"], rows),
    )


def item_losses(odds: Floats, rows: FinalityRows) -> Floats:
    """Return each item's mean log loss in nats, ``[items]``."""
    signed = np.where(rows.final, odds, -odds)
    losses = np.logaddexp(0.0, -signed)
    _, place, counts = np.unique(rows.item, return_inverse=True, return_counts=True)
    found: Floats = np.bincount(place, weights=losses) / counts
    return found


def mean_loss(model: FinalityModel, rows: FinalityRows) -> float:
    """Return a model's log loss in nats, every item counting the same."""
    return float(item_losses(score(model, rows.found), rows).mean())


def auc(odds: Floats, final: Flags, weights: Floats) -> float:
    """Return how often a final row is scored above one that is not, ties half; NaN where one kind is missing."""
    _, place = np.unique(odds, return_inverse=True)
    right = np.bincount(place, weights=weights * final)
    wrong = np.bincount(place, weights=weights * ~final)
    total = right.sum() * wrong.sum()
    if total <= _LEAST:
        return float("nan")
    below = np.cumsum(wrong) - wrong
    return float((right * (below + wrong / 2)).sum() / total)


def _aucs(odds: Floats, final: Flags, weights: list[Floats]) -> Floats:
    return np.array([auc(odds, final, found) for found in weights])


def _resampled_weights(rows: FinalityRows, seed: int) -> list[Floats]:
    """Return the weights of the rows as they are, then those of resampled items."""
    base = rows.weights
    _, place = np.unique(rows.item, return_inverse=True)
    count = int(place.max()) + 1
    rng = np.random.default_rng(seed)
    drawn = (np.bincount(rng.integers(count, size=count), minlength=count) for _ in range(RESAMPLES))
    return [base, *(base * times[place] for times in drawn)]


def _spread(values: Floats, items: int) -> IntervalResult:
    """Return the first of resampled values with the middle 95 % of the others."""
    if items < MIN_BOOTSTRAP:
        return NotEnoughData(n=items, reason=f"{items} items, at least {MIN_BOOTSTRAP} needed")
    if not np.isfinite(values).all():
        return NotEnoughData(n=items, reason="too few draft tokens that are not final")
    low, high = np.quantile(values[1:], (_TAIL, 1 - _TAIL))
    estimate = float(values[0])
    return Interval(estimate=estimate, low=min(float(low), estimate), high=max(float(high), estimate))


def _bins(odds: Floats, rows: FinalityRows) -> tuple[CalibrationBin, ...]:
    chance = 1 / (1 + np.exp(-odds))
    place = np.minimum((chance * BINS).astype(np.int64), BINS - 1)
    weights = rows.weights
    found = []
    for number in range(BINS):
        inside = place == number
        if (total := float(weights[inside].sum())) > 0:
            found.append(
                CalibrationBin(
                    share=total / float(weights.sum()),
                    predicted=float((weights * chance)[inside].sum()) / total,
                    final=float((weights * rows.final)[inside].sum()) / total,
                )
            )
    return tuple(found)
