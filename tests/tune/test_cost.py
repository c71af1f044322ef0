"""Behaviour of `unmask.tune.cost`."""

from itertools import count

import pytest

from tests.control.values import BUCKETS, make_entry, make_model
from unmask.control.difficulty import Estimator
from unmask.tune.cost import median_cost


def test_cost_is_the_median_of_what_the_clock_says() -> None:
    """One reading before and one after each request."""
    ticks = count()
    estimator = Estimator(model="tiny", model_digest="m", digest="d", tasks={"sort": make_model()})
    entries = [make_entry(), make_entry("poem")]
    cost = median_cost(estimator, entries, BUCKETS, seed=1, now=lambda: 0.25 * next(ticks))

    assert cost == pytest.approx(0.25)
    assert median_cost(estimator, entries[1:], BUCKETS, seed=1, now=lambda: 0.0) == 0.0
