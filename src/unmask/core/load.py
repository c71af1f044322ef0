"""What a core has to do and has done: published by the thread that ticks, read by any other."""

from dataclasses import dataclass

from unmask.service import ClassWork, Holds, QueueLoad
from unmask.work import NO_GROWTH, EngineWork, Growth, PageAlert


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreLoad:
    """A core as of its last tick or submission.

    A new value takes the place of the old one in a single assignment, so
    readers need no lock and never hold up a tick.

    Attributes:
        at: when it was published, on the core's clock.
        running: sequences in the batch.
        waiting: sequences in the queue.
        pages_used: pages with at least one reference.
        steps: steps taken since the start, by whichever sequence.
        ticks: ticks since the start.
        busy_s: seconds in ticks since the start.
        queues: what waits, by service class and bucket; a moment old where very many wait.
        work: its forwards.
        useful_tokens: of the tokens forwarded those that completed generations were made of.
        growth: what these held, by length.
        works: what each class with work has to do.
        service_p95_s: 95th percentile of the seconds that completed requests took once they ran.
        page_alert: watermark of the pages that was reached.
        page_alerts: how often a watermark was.
        holds: how often batches were waited for.
    """

    at: float
    running: int = 0
    waiting: int = 0
    pages_used: int = 0
    steps: int = 0
    ticks: int = 0
    busy_s: float = 0.0
    queues: tuple[QueueLoad, ...] = ()
    work: EngineWork = EngineWork()
    useful_tokens: int = 0
    growth: Growth = NO_GROWTH
    works: tuple[ClassWork, ...] = ()
    service_p95_s: float | None = None
    page_alert: PageAlert = PageAlert.NONE
    page_alerts: int = 0
    holds: Holds = Holds()

    @property
    def has_work(self) -> bool:
        """Whether a tick is due."""
        return self.running + self.waiting > 0
