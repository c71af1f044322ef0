"""The sequential test on a rate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.errors import ConfigError
from unmask.stats.sequential import watch_rate

LIMIT = 0.01


def test_a_rate_above_its_limit_is_noticed() -> None:
    """Five times the limit raises the alarm within a few hundred controls, nearly always."""
    alarms = []
    for seed in range(50):
        outcomes = (np.random.default_rng(seed).random(600) < 5 * LIMIT).astype(float)
        alarms.append(watch_rate(outcomes.tolist(), LIMIT).alarm_at)
    assert sum(alarm is not None for alarm in alarms) >= 47


def test_a_rate_at_its_limit_hardly_ever_alarms_however_often_one_looks() -> None:
    """In 200 runs of 2,000 controls, looked at after every one, alarms stay within 5 %, chance allowed for."""
    alarms = sum(
        watch_rate((np.random.default_rng(seed).random(2000) < LIMIT).astype(float).tolist(), LIMIT).is_alarmed
        for seed in range(200)
    )
    assert alarms <= 17


def test_nothing_seen_is_no_evidence() -> None:
    """Without outcomes the wealth is 1 and there is no alarm."""
    watch = watch_rate([], LIMIT)
    assert (watch.n, watch.wealth, watch.alarm_at) == (0, 1.0, None)


def test_an_alarm_is_dated_and_stays() -> None:
    """Ten misjudgements in a row alarm at one of them; what is fine afterwards does not take it back."""
    watch = watch_rate([1.0] * 10 + [0.0] * 500, LIMIT)
    assert watch.alarm_at is not None
    assert watch.alarm_at <= 10
    assert watch.is_alarmed
    assert watch.events == 10


@given(st.lists(st.floats(0, 1), max_size=60), st.floats(0.001, 0.5))
def test_wealth_is_finite_and_never_negative(outcomes: list[float], limit: float) -> None:
    """Whatever happens, evidence is a number from 0 on; only outcomes of 0 let it shrink."""
    wealth = watch_rate(outcomes, limit).wealth
    assert np.isfinite(wealth)
    assert wealth >= 0
    assert watch_rate([*outcomes, 1.0], limit).wealth > wealth or wealth == 0


@pytest.mark.parametrize("limit", [0.0, 1.0, -0.1, float("nan")])
def test_limits_are_shares(limit: float) -> None:
    """A limit that is no share of requests is refused by name."""
    with pytest.raises(ConfigError, match="misjudgement limit"):
        watch_rate([0.0], limit)


def test_outcomes_are_shares() -> None:
    """An outcome outside [0, 1] would break the guarantee."""
    with pytest.raises(ValueError, match="outcomes"):
        watch_rate([2.0], LIMIT)
