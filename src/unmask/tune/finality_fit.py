"""Fits finality models: a logistic score, and small networks of one hidden layer."""

import warnings
from dataclasses import replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from unmask.policy.finality import FEATURES, Floats
from unmask.policy.finality_file import finality_bytes, read_finality
from unmask.strategy import FinalityModel, HiddenUnit
from unmask.tune.errors import ExitRunError
from unmask.tune.finality_rows import FinalityRows

DIGITS = 6
SIZES = (0, 4, 8)
"""Hidden units that are tried; 0 is a logistic score of the features themselves."""
THRESHOLD = 0.9
"""Least probability to reveal at, unless a policy says otherwise."""
_ITERATIONS = 400
_DECAY = 1e-3


def fit_finality(rows: FinalityRows, units: int, seed: int) -> FinalityModel:
    """Fit a model to rows, every item counting the same.

    Args:
        rows: what it learns from.
        units: hidden units; none for a logistic score.
        seed: of the first weights.

    Raises:
        ExitRunError: all draft tokens are final, or none is.
    """
    if rows.final.all() or not rows.final.any():
        raise ExitRunError(
            f"{rows.final.sum()} of {len(rows.final)} draft tokens are final, so there is nothing to tell apart; draw "
            "more items"
        )
    centre = rows.found.mean(axis=0).round(DIGITS)
    spread = rows.found.std(axis=0).round(DIGITS)
    scale = np.where(spread > 0, spread, 1.0)
    values = (rows.found - centre) / scale
    hidden, weights, bias = _network(values, rows, units, seed) if units else _logistic(values, rows)
    model = FinalityModel(
        version="",
        centre=_told(centre),
        scale=_told(scale),
        hidden=hidden,
        weights=_told(weights),
        bias=round(bias, DIGITS),
        threshold=THRESHOLD,
    )
    return read_finality(finality_bytes(model))


def fit_confidence(rows: FinalityRows) -> FinalityModel:
    """Fit a model that reads the draft token's own log-odds and nothing else: confidence, put to scale."""
    own = rows.found[:, FEATURES.index("log_odds")]
    alone = np.zeros_like(rows.found)
    alone[:, FEATURES.index("log_odds")] = own
    return fit_finality(replace(rows, found=alone), 0, 0)


def _logistic(values: Floats, rows: FinalityRows) -> tuple[tuple[HiddenUnit, ...], Floats, float]:
    model = LogisticRegression(max_iter=_ITERATIONS).fit(values, rows.final, sample_weight=rows.weights)
    return (), model.coef_[0], float(model.intercept_[0])


def _network(values: Floats, rows: FinalityRows, units: int, seed: int) -> tuple[tuple[HiddenUnit, ...], Floats, float]:
    model = MLPClassifier((units,), solver="lbfgs", alpha=_DECAY, max_iter=_ITERATIONS, random_state=seed)
    with warnings.catch_warnings():
        # Where it stops early it is judged like the others.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(values, rows.final, sample_weight=rows.weights)
    first, last = model.coefs_
    hidden = tuple(
        HiddenUnit(weights=_told(first[:, unit]), bias=round(float(model.intercepts_[0][unit]), DIGITS))
        for unit in range(units)
    )
    return hidden, last[:, 0], float(model.intercepts_[1][0])


def _told(values: Floats) -> tuple[float, ...]:
    return tuple(round(float(value), DIGITS) for value in values)
