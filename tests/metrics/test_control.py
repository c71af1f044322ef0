"""Behaviour of `unmask.metrics.control`."""

from prometheus_client import CollectorRegistry

from tests.metrics.reading import Series, parse
from unmask.metrics.control import ControlEnd, ControlInstruments, ControlVerdict, PolicyCollector
from unmask.metrics.exposition import expose
from unmask.types import Bucket, Precision


def read(registry: CollectorRegistry) -> Series:
    """Read all there is."""
    return parse(expose(registry, None).body.decode())


def test_every_series_is_there_from_the_start() -> None:
    """At zero, so that a rate can be taken of the first event."""
    registry = CollectorRegistry()
    ControlInstruments(registry, ["tiny", "nano"], ["client", "model"], ["again"])
    found = {name: value for name, value in read(registry).items() if not name.split("{")[0].endswith("_created")}

    assert set(found.values()) == {0}
    assert len(found) == 2 * (
        2 + len(Bucket) + 1 + len(Precision) + 1 + len(ControlEnd) + len(ControlVerdict) + 1 + 1 + 2 + 2 + 1 + 4
    )


def test_events_are_counted_for_their_model() -> None:
    """And for no other."""
    registry = CollectorRegistry()
    instruments = ControlInstruments(registry, ["tiny", "nano"], ["client", "model"], ["again"])
    instruments.assigned("tiny", "client", Bucket.M, Precision.INT8)
    instruments.assigned("tiny", "model", None, None)
    instruments.control_ended("tiny", ControlEnd.RECORDED, 5)
    instruments.control_judged("tiny", ControlVerdict.MISJUDGED)
    instruments.exit_failed("tiny")
    instruments.answered("tiny", 0)
    instruments.answered("tiny", 2)
    instruments.attempted("tiny", "again", 9)
    found = {name: value for name, value in read(registry).items() if value and "_created" not in name}

    assert found == {
        "unmask_budgets_total{model=tiny,source=client}": 1,
        "unmask_budgets_total{model=tiny,source=model}": 1,
        "unmask_buckets_total{bucket=M,model=tiny}": 1,
        "unmask_buckets_total{bucket=none,model=tiny}": 1,
        "unmask_precisions_total{model=tiny,precision=int8}": 1,
        "unmask_precisions_total{model=tiny,precision=unknown}": 1,
        "unmask_controls_total{model=tiny,result=recorded}": 1,
        "unmask_control_extra_steps_total{model=tiny}": 5,
        "unmask_control_verdicts_total{model=tiny,verdict=misjudged}": 1,
        "unmask_exit_failures_total{model=tiny}": 1,
        "unmask_answers_total{model=tiny}": 2,
        "unmask_answers_reexpanded_total{model=tiny}": 1,
        "unmask_attempts_total{model=tiny,reason=again}": 1,
        "unmask_attempt_steps_total{model=tiny,reason=again}": 9,
    }


def test_policy_is_the_one_of_the_moment() -> None:
    """A promotion is seen by the next one to look."""
    registry, policies = CollectorRegistry(), [("tiny", "fixed")]
    PolicyCollector(registry, lambda: policies)
    before = read(registry)
    policies[0] = ("tiny", "feedface")

    assert before == {"unmask_policy_info{digest=fixed,model=tiny}": 1}
    assert read(registry) == {"unmask_policy_info{digest=feedface,model=tiny}": 1}
