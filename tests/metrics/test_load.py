"""Behaviour of `unmask.metrics.load`."""

from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from tests.metrics.reading import Series, read
from unmask.backend import EngineState, ModelLoad
from unmask.metrics.load import LoadCollector
from unmask.service import QueueLoad
from unmask.types import Bucket


def make_load(model: str = "tiny", **changes: Any) -> ModelLoad:  # noqa: ANN401 - any field of the load
    """Return a load of which every field is another number."""
    fields: dict[str, Any] = {
        "state": EngineState.RUNNING,
        "running": 3,
        "waiting": 2,
        "max_running": 16,
        "kv_pages_used": 10,
        "kv_pages": 40,
        "page_tokens": 32,
        "steps": 500,
        "ticks": 200,
        "busy_s": 12.5,
    }
    return ModelLoad(model=model, **(fields | changes))


def series_of(*loads: ModelLoad) -> Series:
    """Return what is written of some loads."""
    registry = CollectorRegistry()
    LoadCollector(registry, lambda: loads)
    return read(registry)


def test_each_number_has_its_series() -> None:
    """A load is written whole, with its ratio."""
    assert series_of(make_load()) == {
        "unmask_engine_up{model=tiny}": 1,
        "unmask_requests_running{model=tiny}": 3,
        "unmask_requests_running_limit{model=tiny}": 16,
        "unmask_requests_waiting{model=tiny}": 2,
        "unmask_kv_pages_used{model=tiny}": 10,
        "unmask_kv_pages{model=tiny}": 40,
        "unmask_kv_page_tokens{model=tiny}": 32,
        "unmask_kv_usage_ratio{model=tiny}": 0.25,
        "unmask_engine_steps_total{model=tiny}": 500,
        "unmask_engine_ticks_total{model=tiny}": 200,
        "unmask_engine_busy_seconds_total{model=tiny}": 12.5,
        "vllm:num_requests_running": 3,
        "vllm:num_requests_waiting": 2,
        "vllm:kv_cache_usage_perc": 0.25,
    }


@pytest.mark.parametrize("state", EngineState)
def test_only_an_engine_that_makes_progress_is_up(state: EngineState) -> None:
    """Stuck and stopped are down."""
    assert series_of(make_load(state=state))["unmask_engine_up{model=tiny}"] == (state is EngineState.RUNNING)


def test_models_have_series_of_their_own_and_routers_one_for_all() -> None:
    """A router reads one series a name: requests are added up, and of the pools the fullest counts."""
    found = series_of(make_load("tiny"), make_load("nano", running=4, waiting=5, kv_pages_used=30))

    assert found["unmask_requests_running{model=nano}"] == 4
    assert found["unmask_requests_running{model=tiny}"] == 3
    assert [name for name in found if name.startswith("vllm:") and "{" in name] == []
    assert found["vllm:num_requests_running"] == 7
    assert found["vllm:num_requests_waiting"] == 7
    assert found["vllm:kv_cache_usage_perc"] == 0.75


def test_nothing_served_is_no_load() -> None:
    """Without a model, or without pages, usage is zero."""
    assert series_of()["vllm:kv_cache_usage_perc"] == 0
    assert series_of(make_load(kv_pages=0, kv_pages_used=0))["unmask_kv_usage_ratio{model=tiny}"] == 0


def test_all_numbers_of_a_scrape_are_of_one_moment() -> None:
    """The backend is asked once a scrape, and at each anew."""
    asked: list[int] = []

    def load() -> tuple[ModelLoad, ...]:
        asked.append(1)
        return (make_load(running=len(asked)),)

    registry = CollectorRegistry()
    LoadCollector(registry, load)

    assert [read(registry)["vllm:num_requests_running"] for _ in range(3)] == [1, 2, 3]


def test_queues_are_told_by_class_and_bucket() -> None:
    """Length, age, and what has left them; ``none`` stands for requests under no policy and of no bucket."""
    queues = (
        QueueLoad(
            service_class="batch",
            bucket=Bucket.L,
            waiting=7,
            oldest_s=90.0,
            patience_s=60.0,
            admitted=20,
            waited_s=400.0,
        ),
        QueueLoad(service_class="", bucket=None, waiting=0, oldest_s=0.0, patience_s=60.0, admitted=1, waited_s=0.5),
    )
    found = series_of(make_load(queues=queues))
    labels = "{bucket=L,model=tiny,service_class=batch}"

    assert found[f"unmask_queue_length{labels}"] == 7
    assert found[f"unmask_queue_oldest_time_seconds{labels}"] == 90
    assert found[f"unmask_queue_behind{labels}"] == 1
    assert found[f"unmask_queue_admitted_total{labels}"] == 20
    assert found[f"unmask_queue_waited_time_seconds_total{labels}"] == 400
    assert found["unmask_queue_behind{bucket=none,model=tiny,service_class=none}"] == 0
