"""Watches a rate control by control, and says when it is above its limit.

A test at a fixed size may be looked at once. This one may be looked at after
every control, for as long as one likes: it keeps the wealth of bets against
"the rate is at most the limit", which under that hypothesis multiplies by one
on average at most, so that it ever reaches 1/α has a chance of α at most
(Ville's inequality; Waudby-Smith and Ramdas 2024, arXiv 2010.09686).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unmask.errors import ConfigError

ALPHA = 0.05
BETS = np.linspace(0.05, 0.95, 19)
"""Shares of what may be staked at most. Spread over many, some bet is good whatever the true rate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """What a sequential test has come to.

    Attributes:
        n: outcomes seen.
        events: how many of them were misjudged, by weight.
        wealth: evidence against "at most the limit"; 1 at the start.
        alarm_at: number of the outcome at which the alarm was raised, from 1; ``None`` while there is none.
    """

    limit: float
    n: int
    events: float
    wealth: float
    alarm_at: int | None

    @property
    def is_alarmed(self) -> bool:
        """Whether the rate is above its limit, with an error of at most the test's α."""
        return self.alarm_at is not None


def watch_rate(outcomes: Sequence[float], limit: float, *, alpha: float = ALPHA) -> Watch:
    """Test outcomes in order, each from 0 (fine) to 1 (misjudged), against a limit of their mean.

    Raises:
        ConfigError: the limit is not between 0 and 1.
    """
    if not 0 < limit < 1:
        raise ConfigError(f"the misjudgement limit is {limit}, allowed: above 0 and below 1")
    values = np.asarray(outcomes, dtype=np.float64)
    if values.size and not (values.min() >= 0 and values.max() <= 1):
        message = f"outcomes must lie in [0, 1], got {values.min()} to {values.max()}"
        raise ValueError(message)
    # A stake of 1/limit is lost whole by the first outcome of 0.
    stakes = BETS / limit
    growth = np.log1p(stakes[:, None] * (values[None, :] - limit)).cumsum(axis=1)
    wealth = np.exp(np.logaddexp.reduce(growth, axis=0) - np.log(len(stakes)))
    reached = np.flatnonzero(wealth >= 1 / alpha)
    return Watch(
        limit=limit,
        n=len(values),
        events=float(values.sum()),
        wealth=float(wealth[-1]) if len(values) else 1.0,
        alarm_at=int(reached[0]) + 1 if len(reached) else None,
    )
