"""Behaviour of `unmask.metrics.replicas`."""

from prometheus_client import CollectorRegistry

from tests.metrics.reading import read
from tests.metrics.test_load import make_load
from unmask.metrics.replicas import ReplicaCollector
from unmask.routing import PrefillCounts, PrefillEnd, ReplicaLoad, RouteReason


def test_each_replica_has_its_series() -> None:
    """What went there, why, and what of it was cached; a lost one is down."""
    well = ReplicaLoad(
        name="1",
        problem=None,
        running=2,
        waiting=1,
        decisions=((RouteReason.PREFIX, 5),),
        prompt_tokens=100,
        cached_tokens=60,
        expected_tokens=70,
    )
    lost = ReplicaLoad(name="2", problem="its engine is stopped", running=0, waiting=0)
    registry = CollectorRegistry()
    ReplicaCollector(registry, lambda: (make_load(replicas=(well, lost)),))

    assert read(registry) == {
        "unmask_replica_up{model=tiny,replica=1}": 1,
        "unmask_replica_up{model=tiny,replica=2}": 0,
        "unmask_replica_requests{model=tiny,replica=1}": 3,
        "unmask_replica_requests{model=tiny,replica=2}": 0,
        "unmask_replica_prompt_tokens_total{model=tiny,replica=1}": 100,
        "unmask_replica_prompt_tokens_total{model=tiny,replica=2}": 0,
        "unmask_replica_cached_tokens_total{model=tiny,replica=1}": 60,
        "unmask_replica_cached_tokens_total{model=tiny,replica=2}": 0,
        "unmask_replica_expected_tokens_total{model=tiny,replica=1}": 70,
        "unmask_replica_expected_tokens_total{model=tiny,replica=2}": 0,
        "unmask_replica_decisions_total{model=tiny,reason=prefix,replica=1}": 5,
    }


def test_one_engine_has_none() -> None:
    """Where nothing is chosen there is nothing to tell."""
    registry = CollectorRegistry()
    ReplicaCollector(registry, lambda: (make_load(),))

    assert read(registry) == {}


def test_prompts_that_were_to_be_run_elsewhere_are_told_by_what_became_of_them() -> None:
    """Every result has its series from the first such prompt on."""
    counts = PrefillCounts().after(PrefillEnd.TAKEN, tokens=160, size=4_096).after(PrefillEnd.NO_ROOM)
    registry = CollectorRegistry()
    ReplicaCollector(registry, lambda: (make_load(prefills=counts + counts),))
    found = read(registry)

    assert {name: value for name, value in found.items() if value} == {
        "unmask_prefill_prompts_total{model=tiny,result=taken}": 2,
        "unmask_prefill_prompts_total{model=tiny,result=no_room}": 2,
        "unmask_prefill_tokens_total{model=tiny}": 320,
        "unmask_prefill_bytes_total{model=tiny}": 8_192,
    }
    assert len(found) == len(PrefillEnd) + 2
