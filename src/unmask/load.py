"""What a model's engines have to do and have done, and the sum of several."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import reduce
from operator import add

from unmask.routing import PrefillCounts, ReplicaLoad
from unmask.service import ClassWork, Holds, QueueLoad
from unmask.work import NO_GROWTH, EngineWork, Growth, PageAlert


class EngineState(StrEnum):
    """Whether what runs a model makes progress.

    ``stuck`` has work and has finished no tick for long; ``stopped`` will never finish another. Neither mends itself.
    """

    RUNNING = "running"
    STUCK = "stuck"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLoad:
    """What a model's engine has to do, as of its last tick, and what it has done since it started.

    Attributes:
        running: requests in the batch, at most ``max_running``.
        waiting: requests that wait for a place in it or for pages.
        kv_pages_used: pages that a request holds; those that only the prefix cache keeps are free.
        kv_pages: pages in all, each for ``page_tokens`` tokens.
        steps: denoise steps taken, those of abandoned requests included.
        ticks: turns of the engine loop.
        busy_s: seconds spent in ticks.
        queues: what waits, by service class and bucket.
        work: its forwards.
        useful_tokens: of the tokens forwarded those that completed requests were made of: prompts, commits, and of
            every step the positions that became output.
        growth: what these held, by length.
        works: what each service class with work has to do; nothing of a server that does not tell, or that has seen
            too little to say.
        service_p95_s: 95th percentile of the seconds that completed requests took once they ran.
        silent_s: seconds since the engine last said anything, while it has work.
        page_bytes: memory that a page takes; 0 of a server that does not tell.
        page_alert: watermark of the pages that was reached and not left again.
        page_alerts: how often a watermark was reached.
        holds: how often an idle engine waited for a batch to fill.
        prefills: prompts that were to be prefilled on other replicas.
        replicas: the engines or servers that requests are spread over; empty where there is one engine.
    """

    model: str
    state: EngineState
    running: int
    waiting: int
    max_running: int
    kv_pages_used: int
    kv_pages: int
    page_tokens: int
    steps: int
    ticks: int
    busy_s: float
    queues: tuple[QueueLoad, ...] = ()
    work: EngineWork = EngineWork()
    useful_tokens: int = 0
    growth: Growth = NO_GROWTH
    works: tuple[ClassWork, ...] = ()
    service_p95_s: float | None = None
    silent_s: float = 0.0
    page_bytes: int = 0
    page_alert: PageAlert = PageAlert.NONE
    page_alerts: int = 0
    holds: Holds = Holds()
    prefills: PrefillCounts = PrefillCounts()
    replicas: tuple[ReplicaLoad, ...] = ()

    @property
    def kv_usage(self) -> float:
        """Share of the pages that is in use, from 0 to 1."""
        return self.kv_pages_used / self.kv_pages if self.kv_pages else 0.0


def summed(loads: Sequence[ModelLoad], state: EngineState, replicas: tuple[ReplicaLoad, ...] = ()) -> ModelLoad:
    """Return what several engines of a model, one at least, have to do and have done together.

    Pages count alike, though those of different precisions are of different size. What tells of trouble is the worst of
    theirs, and the time until a class's work is done the longest.
    """
    first = loads[0]
    return replace(
        first,
        state=state,
        running=sum(load.running for load in loads),
        waiting=sum(load.waiting for load in loads),
        max_running=sum(load.max_running for load in loads),
        kv_pages_used=sum(load.kv_pages_used for load in loads),
        kv_pages=sum(load.kv_pages for load in loads),
        steps=sum(load.steps for load in loads),
        ticks=sum(load.ticks for load in loads),
        busy_s=sum(load.busy_s for load in loads),
        queues=_queues(loads),
        work=reduce(add, (load.work for load in loads)),
        useful_tokens=sum(load.useful_tokens for load in loads),
        growth=tuple(reduce(add, bands) for bands in zip(*(load.growth for load in loads), strict=True)),
        holds=reduce(add, (load.holds for load in loads)),
        prefills=reduce(add, (load.prefills for load in loads)),
        replicas=replicas,
        works=_works(loads),
        service_p95_s=max((load.service_p95_s for load in loads if load.service_p95_s is not None), default=None),
        silent_s=max(load.silent_s for load in loads),
        page_alert=max((load.page_alert for load in loads), key=list(PageAlert).index),
        page_alerts=sum(load.page_alerts for load in loads),
    )


def _queues(loads: Sequence[ModelLoad]) -> tuple[QueueLoad, ...]:
    found: dict[tuple[str, str | None], QueueLoad] = {}
    for queue in (queue for load in loads for queue in load.queues):
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


def _works(loads: Sequence[ModelLoad]) -> tuple[ClassWork, ...]:
    found: dict[str, ClassWork] = {}
    for work in (work for load in loads for work in load.works):
        same = found.get(work.service_class)
        found[work.service_class] = (
            work
            if same is None
            else replace(same, forwards=same.forwards + work.forwards, drain_s=max(same.drain_s, work.drain_s))
        )
    return tuple(found.values())
