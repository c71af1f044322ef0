"""The simulated trials of routing and of holds."""

from dataclasses import replace

import pytest

from unmask.bench.hold_trial import HoldArm, HoldTrial, mean_ratios, run_hold_trial
from unmask.bench.routing_trial import RoutingArm, RoutingTrial, prefix_hit_rate_vs_random, run_routing_trial
from unmask.bench.simulated import FLAT, PROCESSOR
from unmask.service import Batching

SMALL = RoutingTrial(cost=PROCESSOR, replicas=3, conversations=16, turns=3)
BURSTS = HoldTrial(batching=Batching.ALIGNED, cost=FLAT, rate=10.0, is_bursty=True, requests=160)


def test_seeds_reproduce() -> None:
    """A simulation depends on its seed and nothing else."""
    first, again, other = (run_routing_trial(SMALL, RoutingArm.RULE, seed) for seed in (1, 1, 2))

    assert first == again
    assert first != other


def test_more_is_found_cached_than_by_chance() -> None:
    """By the rule turns find what those before them left; the interval of the ratio is above one."""
    figure = prefix_hit_rate_vs_random(replace(SMALL, conversations=8), range(10))

    assert figure.low is not None
    assert figure.low > 1
    assert figure.n == 10


def test_a_hot_prefix_is_shared_out() -> None:
    """Going by the prefix alone leaves everything to one replica; the rule does not, and answers sooner."""
    hot = replace(SMALL, tenants=1, systems=1, system_tokens=512, rate=40.0)
    rule, alone = (run_routing_trial(hot, arm, 0) for arm in (RoutingArm.RULE, RoutingArm.PREFIX))

    assert alone.imbalance == pytest.approx(3.0)
    assert rule.imbalance < 2.0
    assert rule.mean_s < alone.mean_s


def test_bursts_are_gathered_where_rows_are_cheap() -> None:
    """Held for its stragglers a burst is answered sooner, with fewer forwards."""
    means, machine = mean_ratios(BURSTS, HoldArm.MEASURED, range(2))

    assert max(means) < 0.9
    assert max(machine) < 0.9


def test_steady_arrivals_are_not_held() -> None:
    """Nothing is gained there, and a fixed wait loses much."""
    steady = replace(BURSTS, is_bursty=False, cost=PROCESSOR, requests=80)
    never, measured, fixed = (
        run_hold_trial(steady, arm, 0) for arm in (HoldArm.NEVER, HoldArm.MEASURED, HoldArm.FIXED)
    )

    assert measured == never
    assert fixed.mean_s > 1.5 * never.mean_s
