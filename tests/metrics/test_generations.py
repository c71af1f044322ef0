"""Behaviour of `unmask.metrics.generations`."""

import pytest
from prometheus_client import CollectorRegistry

from tests.metrics.reading import moved, read
from unmask.backend import Generation, Timing
from unmask.metrics.generations import GenerationInstruments
from unmask.testing.builders import make_generation, make_usage
from unmask.types import ExitReason, FinishReason, Outcome, Verification


class Meter:
    """Instruments and the registry they are in."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.instruments = GenerationInstruments(self.registry, ("tiny", "nano"))

    def move(self, generation: Generation, model: str = "tiny") -> dict[str, float]:
        """Return what a generation moves."""
        before = read(self.registry)
        self.instruments.ended(model, generation)
        return moved(before, read(self.registry))


def test_completed_generation_moves_what_it_cost() -> None:
    """Tokens, steps, canvases, both reasons and each of the times, for its model alone."""
    usage = make_usage(
        prompt_tokens=7, cached_tokens=5, completion_tokens=9, steps_used=4, steps_allocated=16, canvases=2
    )
    generation = make_generation(finish_reason=FinishReason.LENGTH, usage=usage)

    assert Meter().move(generation) == {
        "unmask_generations_total{model=tiny,outcome=completed}": 1,
        "unmask_finishes_total{finish_reason=length,model=tiny}": 1,
        "unmask_exits_total{exit_reason=converged,model=tiny}": 1,
        "unmask_prompt_tokens_total{model=tiny}": 7,
        "unmask_cached_tokens_total{model=tiny}": 5,
        "unmask_completion_tokens_total{model=tiny}": 9,
        "unmask_steps_allocated_total{model=tiny}": 16,
        "unmask_steps_used_total{model=tiny}": 4,
        "unmask_canvases_total{model=tiny}": 2,
        "unmask_generation_steps_count{model=tiny}": 1,
        "unmask_generation_steps_sum{model=tiny}": 4,
        "unmask_queue_time_seconds_count{model=tiny}": 1,
        "unmask_generation_time_seconds_count{model=tiny}": 1,
        "unmask_step_time_seconds_count{model=tiny}": 1,
    }


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.ABORTED])
def test_unfinished_generation_moves_its_cost_and_no_time(outcome: Outcome) -> None:
    """What was spent is spent; times of what broke off would make the others look faster."""
    usage = make_usage(exit_reason=ExitReason(outcome), completion_tokens=0, steps_used=3)
    found = Meter().move(make_generation("", outcome=outcome, finish_reason=None, usage=usage))

    assert found[f"unmask_generations_total{{model=tiny,outcome={outcome}}}"] == 1
    assert found[f"unmask_exits_total{{exit_reason={outcome},model=tiny}}"] == 1
    assert found["unmask_steps_used_total{model=tiny}"] == 3
    assert not [name for name in found if "_count" in name or "finishes" in name]


def test_times_are_parted_at_the_start() -> None:
    """Queue until the start, then the run, and the run over its steps."""
    meter = Meter()
    timing = Timing(arrived=10.0, started=12.0, finished=20.0)
    meter.instruments.ended("tiny", make_generation(timing=timing, usage=make_usage(steps_used=4)))
    found = read(meter.registry)

    assert found["unmask_queue_time_seconds_sum{model=tiny}"] == 2
    assert found["unmask_generation_time_seconds_sum{model=tiny}"] == 8
    assert found["unmask_step_time_seconds_sum{model=tiny}"] == 2


def test_generation_without_a_step_has_no_time_per_step() -> None:
    """Nothing is divided by zero."""
    assert not [name for name in Meter().move(make_generation(usage=make_usage(steps_used=0))) if "step_time" in name]


def test_verifications_and_abandoned_generations_are_counted() -> None:
    """Each by its own word."""
    meter = Meter()
    before = read(meter.registry)
    meter.instruments.verified("nano", Verification.FAIL)
    meter.instruments.abandoned("nano", Outcome.ABORTED)
    meter.instruments.first_text("nano", 0.5)

    assert moved(before, read(meter.registry)) == {
        "unmask_verifications_total{model=nano,result=fail}": 1,
        "unmask_generations_total{model=nano,outcome=aborted}": 1,
        "unmask_time_to_first_text_seconds_count{model=nano}": 1,
    }


def test_every_series_is_there_from_the_start() -> None:
    """A rate over a series that begins at one misses its first event, so all begin at zero."""
    meter = Meter()
    before = read(meter.registry)
    for reason in ExitReason:
        meter.instruments.ended("tiny", make_generation(usage=make_usage(exit_reason=reason)))

    assert set(read(meter.registry)) == set(before)
    assert set(before.values()) == {0}


def test_unknown_models_share_one_series() -> None:
    """However many names are made up, they add one model to the metrics, whose count is theirs together."""
    meter = Meter()
    meter.instruments.ended("made up 0", make_generation())
    after_one = read(meter.registry)
    for number in range(1, 200):
        name = f'made "up"\n{number}'
        meter.instruments.ended(name, make_generation())
        meter.instruments.first_text(name, 1.0)
        meter.instruments.verified(name, Verification.PASS)
        meter.instruments.abandoned(name, Outcome.FAILED)
    found = read(meter.registry)

    assert found["unmask_generations_total{model=other,outcome=completed}"] == 200
    assert len(found) <= len(after_one) + 30
    assert not [name for name in found if "made" in name]
