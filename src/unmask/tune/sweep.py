"""Answers the same items with every budget of a grid, through any backend."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from unmask.backend import Backend, Generation, Request
from unmask.tasks.item import CheckResult, Item
from unmask.tune.errors import CurveRunError
from unmask.tune.in_flight import run_in_flight
from unmask.tune.record import CurveRecord
from unmask.tune.settings import CurveSettings
from unmask.types import Outcome, StepBudget

Note = Callable[[CurveRecord], None]
Check = Callable[[Item, str], CheckResult]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    item: Item
    budget: int


async def sweep(
    backend: Backend,
    settings: CurveSettings,
    items: Mapping[str, Sequence[Item]],
    done: Collection[tuple[str, str, int]],
    note: Note,
    check: Check,
) -> None:
    """Measure whatever is not done yet, ``in_flight`` requests at a time, and note each as it ends.

    Every budget is a run of its own: a draft at step k of a longer run is not the answer of budget k. Task types and
    budgets take turns, so that whatever disturbs the machine disturbs all alike.

    Args:
        backend: what serves the model.
        settings: what is measured.
        items: those of each task type.
        done: keys of records that there are already.
        note: told of each record, in the order in which they end.
        check: judges answers.

    Raises:
        CurveRunError: the backend failed a request.
        UnmaskError: it refused one.
    """
    jobs = (job for job in _jobs(settings, items) if (job.item.task, job.item.digest, job.budget) not in done)

    async def measure(job: _Job) -> None:
        note(_record(job, await backend.generate(_request(settings, job)), check))

    await run_in_flight(jobs, measure, settings.in_flight)


def _jobs(settings: CurveSettings, items: Mapping[str, Sequence[Item]]) -> Iterator[_Job]:
    for place in range(settings.items):
        for task in (task for task in settings.tasks if place < len(items[task])):
            order = Random(f"order/{settings.seed}/{task}/{place}").sample(settings.grid, len(settings.grid))
            yield from (_Job(item=items[task][place], budget=budget) for budget in order)


def _request(settings: CurveSettings, job: _Job) -> Request:
    return Request(
        model=settings.model,
        messages=job.item.messages,
        budget=StepBudget(max_steps=job.budget),
        canvas_length=settings.canvas_length,
        strategy=settings.strategy_of(job.item.task),
        mode=settings.mode,
        # A prompt that another budget has left in the prefix cache would make this one look faster.
        tenant=f"curve-{job.budget}",
    )


def _record(job: _Job, generation: Generation, check: Check) -> CurveRecord:
    if generation.outcome is not Outcome.COMPLETED:
        raise CurveRunError(
            f"item {job.item.digest} of {job.item.task} with {job.budget} steps {generation.outcome}: "
            f"{generation.error or 'no reason given'}; go on with --resume once the backend is well"
        )
    if not generation.usage.has_steps:
        raise CurveRunError(
            f"the server does not say how many steps item {job.item.digest} of {job.item.task} took, and does not let "
            "it be estimated; measure through one that does"
        )
    return CurveRecord(
        task=job.item.task,
        item=job.item.digest,
        difficulty=str(job.item.difficulty),
        budget=job.budget,
        steps=generation.usage.steps_used,
        seconds=generation.timing.finished - generation.timing.started,
        correct=check(job.item, generation.text).passed,
    )
