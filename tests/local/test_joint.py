"""Engines of one model show as one."""

from typing import Any

import pytest

from unmask.backend import EngineState, ModelLoad
from unmask.local.joint import joint_load
from unmask.service import QueueLoad
from unmask.types import Bucket
from unmask.work import NO_GROWTH, EngineWork, grown


def make_load(**changes: Any) -> ModelLoad:  # noqa: ANN401 - any field of the load
    """Return the load of an engine that has done something."""
    fields: dict[str, Any] = {
        "model": "tiny",
        "state": EngineState.RUNNING,
        "running": 1,
        "waiting": 2,
        "max_running": 16,
        "kv_pages_used": 3,
        "kv_pages": 40,
        "page_tokens": 32,
        "steps": 5,
        "ticks": 6,
        "busy_s": 0.5,
        "useful_tokens": 7,
    }
    return ModelLoad(**(fields | changes))


def make_queue(bucket: Bucket | None = None, **changes: Any) -> QueueLoad:  # noqa: ANN401 - any field of the queue
    """Return a queue of the class batch."""
    fields: dict[str, Any] = {"waiting": 1, "oldest_s": 2.0, "patience_s": 60.0, "admitted": 3, "waited_s": 4.0}
    return QueueLoad(service_class="batch", bucket=bucket, **(fields | changes))


def test_numbers_add_up() -> None:
    """Requests, pages and work of both; what a page holds is the same in each."""
    work = EngineWork().after(3, 100, 0.01)
    growth = grown(NO_GROWTH, length=50, kv_tokens=40, pages=2)
    found = joint_load([make_load(work=work, growth=growth), make_load(running=4, steps=50, work=work, growth=growth)])

    assert (found.running, found.waiting, found.max_running, found.steps, found.ticks) == (5, 4, 32, 55, 12)
    assert (found.kv_pages_used, found.kv_pages, found.page_tokens, found.kv_usage) == (6, 80, 32, 0.075)
    assert (found.busy_s, found.useful_tokens) == (1.0, 14)
    assert found.work == EngineWork().after(3, 100, 0.01).after(3, 100, 0.01)
    assert found.growth == grown(growth, length=50, kv_tokens=40, pages=2)


def test_a_class_s_queues_are_one() -> None:
    """Those of the same bucket are joined, the longest wait among them counts; others stand for themselves."""
    found = joint_load(
        [
            make_load(queues=(make_queue(Bucket.S), make_queue(Bucket.L))),
            make_load(queues=(make_queue(Bucket.S, oldest_s=9.0, waiting=4),)),
        ]
    )

    assert found.queues == (
        make_queue(Bucket.S, waiting=5, oldest_s=9.0, admitted=6, waited_s=8.0),
        make_queue(Bucket.L),
    )


@pytest.mark.parametrize("state", EngineState)
def test_one_engine_in_trouble_is_trouble(state: EngineState) -> None:
    """Whichever of them it is."""
    assert joint_load([make_load(), make_load(state=state)]).state is state
    assert joint_load([make_load(state=state), make_load()]).state is state


def test_an_engine_alone_is_as_it_is() -> None:
    """Nothing is made of one but itself."""
    load = make_load()

    assert joint_load([load]) is load
