"""The engines that rows of the layers bench compare."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from unmask.bench.arms import BASE, NO_REUSE
from unmask.bench.bench import Bench
from unmask.bench.layers_workload import Ask
from unmask.bench.lockstep import LockstepRunner
from unmask.bench.meter import MeteredRunner
from unmask.bench.report import Record
from unmask.core.core import Core
from unmask.engine.runner import Runner
from unmask.errors import UnmaskError
from unmask.local.model import make_core
from unmask.sched.settings import SchedSettings
from unmask.sequence import Sequence as Generation
from unmask.service import Batching
from unmask.tasks.item import Item
from unmask.tasks.registry import all_tasks
from unmask.types import Outcome, Precision

STATIC = replace(NO_REUSE, batching=Batching.ALIGNED)
"""Batches filled once, in the order of arrival and by whatever waits, with nothing shared or fused."""
STATIC_WORDS = "static batches"
STEP = BASE
"""The engine as it serves."""
STEP_WORDS = "requests join and leave at every step"


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A core with an empty cache, the runner that holds its weights and pages, and its meter."""

    core: Core
    runner: Runner
    meter: MeteredRunner
    lockstep: LockstepRunner | None

    @property
    def waiting_rows(self) -> int:
        """Rows computed so far that waited for others of their batch."""
        return 0 if self.lockstep is None else self.lockstep.waiting_rows


def make_engine(bench: Bench, settings: SchedSettings, precision: Precision) -> Engine:
    """Build an engine; one with static batches computes rows that wait too."""
    network = bench.model.network
    runner = Runner(network, pages=settings.pages, page_size=settings.page_size, precision=precision)
    meter = MeteredRunner(runner, network, bench.clock)
    lockstep = LockstepRunner(meter) if settings.batching is Batching.ALIGNED else None
    core = make_core(lockstep or meter, bench.tokenizer.token_bytes, settings, bench.clock, queue_limit=1_000_000)
    return Engine(core=core, runner=runner, meter=meter, lockstep=lockstep)


def graded(asks: Sequence[Ask], generations: Sequence[Generation]) -> tuple[Record, ...]:
    """Return what became of requests; the checker, which alone knows the truth, sees finished texts only.

    Raises:
        UnmaskError: the engine failed one.
    """
    tasks = all_tasks()
    found: list[Record] = []
    for ask, one in zip(asks, generations, strict=True):
        if one.outcome is not Outcome.COMPLETED or one.finished is None:
            raise UnmaskError(f"item {ask.item.digest} of {ask.item.task} {one.outcome}: {one.error or 'no reason'}")
        right = tasks[ask.item.task].check(ask.item, one.text).passed
        found.append(record_of(ask.item, steps=one.steps, seconds=one.finished - one.arrived, correct=right))
    return tuple(found)


def record_of(item: Item, *, steps: int, seconds: float, correct: bool) -> Record:
    """Return an answer to an item; the bench names its arm."""
    return Record(
        item=item.digest,
        arm="",
        task=item.task,
        difficulty=str(item.difficulty),
        steps=steps,
        seconds=seconds,
        correct=correct,
    )
