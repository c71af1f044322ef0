"""Behaviour of `unmask.metrics.load`."""

from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from tests.metrics.reading import Series, read
from unmask.load import EngineState, ModelLoad
from unmask.metrics.load import LoadCollector
from unmask.service import Holds, QueueLoad
from unmask.types import Bucket
from unmask.work import FORWARD_BOUNDS_S, GROWTH_BOUNDS, NO_GROWTH, EngineWork, PageAlert, grown


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
        "page_bytes": 2_048,
        "page_alert": PageAlert.HIGH,
        "page_alerts": 6,
    }
    return ModelLoad(model=model, **(fields | changes))


def series_of(*loads: ModelLoad) -> Series:
    """Return what is written of some loads."""
    registry = CollectorRegistry()
    LoadCollector(registry, lambda: loads)
    return read(registry)


def without_bands(found: Series) -> Series:
    """Return the series but for those of forward times and of lengths."""
    return {name: value for name, value in found.items() if "forward_time" not in name and "kv_growth" not in name}


def test_each_number_has_its_series() -> None:
    """A load is written whole, with its ratio."""
    work = EngineWork(forwards=190, rows=570, tokens=9_000, seconds=9.5)

    assert without_bands(
        series_of(make_load(work=work, useful_tokens=7_000, holds=Holds(count=4, seconds=0.5, joined=6)))
    ) == {
        "unmask_engine_up{model=tiny}": 1,
        "unmask_requests_running{model=tiny}": 3,
        "unmask_requests_running_limit{model=tiny}": 16,
        "unmask_requests_waiting{model=tiny}": 2,
        "unmask_kv_pages_used{model=tiny}": 10,
        "unmask_kv_pages{model=tiny}": 40,
        "unmask_kv_page_tokens{model=tiny}": 32,
        "unmask_kv_page_bytes{model=tiny}": 2_048,
        "unmask_kv_usage_ratio{model=tiny}": 0.25,
        "unmask_kv_alert{model=tiny}": 1,
        "unmask_kv_alerts_total{model=tiny}": 6,
        "unmask_engine_steps_total{model=tiny}": 500,
        "unmask_engine_ticks_total{model=tiny}": 200,
        "unmask_engine_busy_seconds_total{model=tiny}": 12.5,
        "unmask_holds_total{model=tiny}": 4,
        "unmask_held_time_seconds_total{model=tiny}": 0.5,
        "unmask_held_joined_total{model=tiny}": 6,
        "unmask_engine_forwards_total{model=tiny}": 190,
        "unmask_engine_rows_total{model=tiny}": 570,
        "unmask_engine_tokens_total{model=tiny}": 9_000,
        "unmask_engine_useful_tokens_total{model=tiny}": 7_000,
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


def test_forward_times_are_a_histogram() -> None:
    """Each bucket holds what is in those below it as well."""
    work = EngineWork().after(2, 20, 0.002).after(2, 20, 0.3).after(1, 9, 7.0)
    found = series_of(make_load(work=work))

    assert found["unmask_forward_time_seconds_bucket{le=0.001,model=tiny}"] == 0
    assert found["unmask_forward_time_seconds_bucket{le=0.0025,model=tiny}"] == 1
    assert found["unmask_forward_time_seconds_bucket{le=0.5,model=tiny}"] == 2
    assert found["unmask_forward_time_seconds_bucket{le=+Inf,model=tiny}"] == 3
    assert found["unmask_forward_time_seconds_count{model=tiny}"] == 3
    assert found["unmask_forward_time_seconds_sum{model=tiny}"] == pytest.approx(7.302)
    assert sum("_bucket" in name for name in found) == len(FORWARD_BOUNDS_S) + 1


def test_pages_are_told_by_length() -> None:
    """A series for every band, whatever was asked: nobody can add any."""
    growth = grown(NO_GROWTH, length=100, kv_tokens=96, pages=4)
    growth = grown(growth, length=10**9, kv_tokens=9, pages=40)
    found = series_of(make_load(growth=growth))

    assert found["unmask_kv_growth_generations_total{length=128,model=tiny}"] == 1
    assert found["unmask_kv_growth_tokens_total{length=128,model=tiny}"] == 96
    assert found["unmask_kv_growth_pages_total{length=128,model=tiny}"] == 4
    assert found["unmask_kv_growth_pages_total{length=+Inf,model=tiny}"] == 40
    assert found["unmask_kv_growth_pages_total{length=64,model=tiny}"] == 0
    assert sum("kv_growth_pages" in name for name in found) == len(GROWTH_BOUNDS) + 1
