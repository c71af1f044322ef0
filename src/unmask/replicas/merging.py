"""The load of a model as one, of the loads of its replicas."""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import add

from unmask.backend import EngineState, ModelLoad
from unmask.routing import ReplicaLoad
from unmask.service import QueueLoad

_BEST_FIRST = (EngineState.RUNNING, EngineState.STUCK, EngineState.STOPPED)


def merged(loads: Sequence[ModelLoad], replicas: tuple[ReplicaLoad, ...]) -> ModelLoad:
    """Return what all replicas of a model, one at least, have to do and have done together.

    It makes progress as long as one of them does.
    """
    first = loads[0]
    return ModelLoad(
        model=first.model,
        state=min((load.state for load in loads), key=_BEST_FIRST.index),
        running=sum(load.running for load in loads),
        waiting=sum(load.waiting for load in loads),
        max_running=sum(load.max_running for load in loads),
        kv_pages_used=sum(load.kv_pages_used for load in loads),
        kv_pages=sum(load.kv_pages for load in loads),
        page_tokens=first.page_tokens,
        steps=sum(load.steps for load in loads),
        ticks=sum(load.ticks for load in loads),
        busy_s=sum(load.busy_s for load in loads),
        queues=_queues(loads),
        work=reduce(add, (load.work for load in loads)),
        useful_tokens=sum(load.useful_tokens for load in loads),
        growth=tuple(reduce(add, bands) for bands in zip(*(load.growth for load in loads), strict=True)),
        holds=reduce(add, (load.holds for load in loads)),
        replicas=replicas,
    )


def _queues(loads: Sequence[ModelLoad]) -> tuple[QueueLoad, ...]:
    found: dict[tuple[str, str | None], QueueLoad] = {}
    for queue in (queue for load in loads for queue in load.queues):
        key = queue.service_class, queue.bucket
        found[key] = _both(found[key], queue) if key in found else queue
    return tuple(found.values())


def _both(one: QueueLoad, other: QueueLoad) -> QueueLoad:
    return replace(
        one,
        waiting=one.waiting + other.waiting,
        oldest_s=max(one.oldest_s, other.oldest_s),
        admitted=one.admitted + other.admitted,
        waited_s=one.waited_s + other.waited_s,
    )
