"""The loads of a model's engines, one a precision, as one."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from unmask.backend import EngineState, ModelLoad
from unmask.service import QueueLoad
from unmask.work import EngineWork, GrowthBand

_WORST = (EngineState.STOPPED, EngineState.STUCK, EngineState.RUNNING)


def joint_load(loads: Sequence[ModelLoad]) -> ModelLoad:
    """Add up the loads of one model's engines, of which there is at least one; its state is the worst of theirs.

    Pages count alike, though those of different precisions are of different size.
    """
    first, *others = loads
    if not others:
        return first
    return replace(
        first,
        state=next(state for state in _WORST if any(load.state is state for load in loads)),
        running=sum(load.running for load in loads),
        waiting=sum(load.waiting for load in loads),
        max_running=sum(load.max_running for load in loads),
        kv_pages_used=sum(load.kv_pages_used for load in loads),
        kv_pages=sum(load.kv_pages for load in loads),
        steps=sum(load.steps for load in loads),
        ticks=sum(load.ticks for load in loads),
        busy_s=sum(load.busy_s for load in loads),
        queues=_queues(queue for load in loads for queue in load.queues),
        work=_work([load.work for load in loads]),
        useful_tokens=sum(load.useful_tokens for load in loads),
        growth=tuple(_band(bands) for bands in zip(*(load.growth for load in loads), strict=True)),
    )


def _work(works: Sequence[EngineWork]) -> EngineWork:
    return EngineWork(
        forwards=sum(work.forwards for work in works),
        rows=sum(work.rows for work in works),
        tokens=sum(work.tokens for work in works),
        seconds=sum(work.seconds for work in works),
        times=tuple(map(sum, zip(*(work.times for work in works), strict=True))),
    )


def _band(bands: Sequence[GrowthBand]) -> GrowthBand:
    return GrowthBand(
        generations=sum(band.generations for band in bands),
        tokens=sum(band.tokens for band in bands),
        kv_tokens=sum(band.kv_tokens for band in bands),
        pages=sum(band.pages for band in bands),
    )


def _queues(queues: Iterable[QueueLoad]) -> tuple[QueueLoad, ...]:
    found: dict[object, QueueLoad] = {}
    for queue in queues:
        key = queue.service_class, queue.bucket
        same = found.get(key)
        found[key] = (
            queue
            if same is None
            else replace(
                same,
                waiting=same.waiting + queue.waiting,
                oldest_s=max(same.oldest_s, queue.oldest_s),
                admitted=same.admitted + queue.admitted,
                waited_s=same.waited_s + queue.waited_s,
            )
        )
    return tuple(found.values())
