"""Trains a finality model from traces, and says whether it tells more than plain confidence.

Items are parted in three: most are trained on, some choose among the models, and the rest judge the one that was
chosen. Whether rows of hasty runs help is decided like everything else, by log loss on the choosing items; what counts
there are the states that serving will see, which are those of hasty runs.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unmask.policy.finality import Flags
from unmask.strategy import FinalityModel
from unmask.tune.errors import ExitRunError
from unmask.tune.finality_fit import SIZES, fit_confidence, fit_finality
from unmask.tune.finality_judge import FinalityJudgement, judge_finality, mean_loss
from unmask.tune.finality_rows import FinalityRows

CHOOSING, JUDGING = 0.2, 0.2
"""Shares of the items; all others are trained on."""
LEAST_ITEMS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalityCandidate:
    """A model that might be taken.

    Attributes:
        units: hidden units.
        with_hasty: whether rows of hasty runs were among those it was trained on.
        log_loss: on the choosing items' hasty runs, in nats.
    """

    units: int
    with_hasty: bool
    log_loss: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedFinality:
    """A finality model and how it was found."""

    model: FinalityModel
    trained_on: int
    candidates: tuple[FinalityCandidate, ...]
    chosen: FinalityCandidate
    judgement: FinalityJudgement


def train_finality(rows: FinalityRows, *, seed: int) -> TrainedFinality:
    """Train, choose and judge, each on items of its own.

    Raises:
        ExitRunError: there are too few items, or all draft tokens are final.
    """
    numbers = np.random.default_rng(seed).permutation(np.unique(rows.item))
    if len(numbers) < LEAST_ITEMS:
        raise ExitRunError(f"{len(numbers)} items have positions to decide, at least {LEAST_ITEMS} needed; draw more")
    choose, judge = (max(1, round(share * len(numbers))) for share in (CHOOSING, JUDGING))
    parts = np.split(numbers, (choose, choose + judge))
    choosing, judging, training = (rows.of(np.isin(rows.item, part)) for part in parts)
    seen = choosing.of(_served(choosing))
    fitted = [
        (model, FinalityCandidate(units=units, with_hasty=with_hasty, log_loss=mean_loss(model, seen)))
        for units, with_hasty, model in _fits(training, seed)
    ]
    model, chosen = min(fitted, key=lambda pair: pair[1].log_loss)
    return TrainedFinality(
        model=model,
        trained_on=len(parts[2]),
        candidates=tuple(candidate for _, candidate in fitted),
        chosen=chosen,
        judgement=judge_finality(model, fit_confidence(training), judging.of(_served(judging)), seed=seed),
    )


def _fits(training: FinalityRows, seed: int) -> Iterator[tuple[int, bool, FinalityModel]]:
    for with_hasty in (True, False):
        rows = training if with_hasty else training.of(~training.hasty)
        if with_hasty or not rows.final.all():
            for units in SIZES:
                yield units, with_hasty, fit_finality(rows, units, seed)


def _served(rows: FinalityRows) -> Flags:
    return rows.hasty if rows.hasty.any() else np.ones_like(rows.hasty)
