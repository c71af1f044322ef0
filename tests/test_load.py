"""Behaviour of `unmask.load`: engines of one model show as one."""

from dataclasses import replace
from typing import Any

from unmask.load import EngineState, ModelLoad, summed
from unmask.service import ClassWork, QueueLoad
from unmask.types import Bucket
from unmask.work import NO_GROWTH, EngineWork, PageAlert, grown


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
    both = [make_load(work=work, growth=growth), make_load(running=4, steps=50, work=work, growth=growth)]
    found = summed(both, EngineState.RUNNING)

    assert (found.running, found.waiting, found.max_running, found.steps, found.ticks) == (5, 4, 32, 55, 12)
    assert (found.kv_pages_used, found.kv_pages, found.page_tokens, found.kv_usage) == (6, 80, 32, 0.075)
    assert (found.busy_s, found.useful_tokens) == (1.0, 14)
    assert found.work == EngineWork().after(3, 100, 0.01).after(3, 100, 0.01)
    assert found.growth == grown(growth, length=50, kv_tokens=40, pages=2)


def test_a_class_s_queues_are_one() -> None:
    """Those of the same bucket are joined, the longest wait among them counts; others stand for themselves."""
    both = [
        make_load(queues=(make_queue(Bucket.S), make_queue(Bucket.L))),
        make_load(queues=(make_queue(Bucket.S, oldest_s=9.0, waiting=4),)),
    ]
    found = summed(both, EngineState.RUNNING)

    assert found.queues == (
        make_queue(Bucket.S, waiting=5, oldest_s=9.0, admitted=6, waited_s=8.0),
        make_queue(Bucket.L),
    )


def test_trouble_is_the_worst_of_theirs() -> None:
    """The longest silence and drain, the highest watermark; forwards add up."""
    work = ClassWork(service_class="batch", forwards=10.0, drain_s=2.0, slack_s=5.0)
    both = [
        make_load(works=(work,), silent_s=1.0, page_alert=PageAlert.CRITICAL, page_alerts=2, service_p95_s=0.5),
        make_load(works=(replace(work, drain_s=3.0),), page_alerts=1),
    ]
    found = summed(both, EngineState.STUCK)

    assert (found.state, found.silent_s, found.page_alert, found.page_alerts) == ("stuck", 1.0, "critical", 3)
    assert found.works == (replace(work, forwards=20.0, drain_s=3.0),)
    assert found.service_p95_s == 0.5
