"""Two policies on the same fresh items, each request as the server would admit it.

Nothing was chosen on these items. Every item is answered once under each policy,
and once more where the policy has an exit rule for it, to its whole budget with the
rule observing: only so is it known whether an exit is wrong where the full run is right.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random

from unmask.backend import Backend, Generation, ModelInfo, Request
from unmask.control.asked import Asked
from unmask.control.budget import Assignment, assign
from unmask.control.check import make_check
from unmask.control.sources import ActivePolicy, Estimator
from unmask.tasks.item import Item, Split
from unmask.tasks.registry import all_tasks
from unmask.tune.errors import CurveRunError
from unmask.tune.in_flight import run_in_flight
from unmask.types import ExitAction, ExitPlan, Outcome


class Arm(StrEnum):
    """Which policy: the one in force before, or the new one."""

    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedSettings:
    """What is compared on what: the arguments that a resumed run must share.

    Attributes:
        before: digest of the policy in force; ``None`` is the built-in fixed budget.
        items: of each task type, from the split that nothing is chosen on.
    """

    model: str
    model_digest: str
    before: str | None
    after: str
    tasks: tuple[str, ...]
    items: int
    seed: int
    in_flight: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedRecord:
    """An item under one policy.

    Attributes:
        item: digest of its canonical form.
        steps: denoise steps it took; ``seconds`` from the start of the first to the end.
        misjudged: whether its exit is wrong where its own full run is right; ``None`` where it has no exit that stops
            requests, or none that was met.
    """

    arm: Arm
    task: str
    item: str
    steps: int
    seconds: float
    correct: bool
    misjudged: bool | None

    @property
    def key(self) -> tuple[str, str, str]:
        """What is measured once a run."""
        return self.arm, self.task, self.item


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A policy and the estimator that it names; without a policy the built-in fixed budget."""

    active: ActivePolicy | None
    estimator: Estimator | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    arm: Arm
    item: Item


async def run_paired(
    backend: Backend,
    model: ModelInfo,
    settings: PairedSettings,
    sides: Mapping[Arm, Side],
    items: Mapping[str, Sequence[Item]],
    done: Collection[tuple[str, str, str]],
    note: Callable[[PairedRecord], None],
) -> None:
    """Measure whatever is not done yet and note each as it ends; policies and task types take turns.

    Raises:
        CurveRunError: the backend failed a request.
        UnmaskError: it refused one.
    """

    async def work(job: _Job) -> None:
        note(await _measured(backend, model, sides[job.arm], job))

    jobs = (job for job in _jobs(settings, items) if (job.arm, job.item.task, job.item.digest) not in done)
    await run_in_flight(jobs, work, settings.in_flight)


def _jobs(settings: PairedSettings, items: Mapping[str, Sequence[Item]]) -> Iterator[_Job]:
    for place in range(settings.items):
        for task in settings.tasks:
            order = Random(f"arms/{settings.seed}/{task}/{place}").sample(tuple(Arm), len(Arm))
            yield from (_Job(arm=arm, item=items[task][place]) for arm in order)


async def _measured(backend: Backend, model: ModelInfo, side: Side, job: _Job) -> PairedRecord:
    request, given = admitted(model, side, job.item, tenant=f"recalibrate-{job.arm}")
    generation = _completed(job, await backend.generate(request))
    misjudged = None
    if given.exit is not None:
        observing = replace(request, exit=ExitPlan(rule=given.exit.rule, action=ExitAction.OBSERVE))
        misjudged = _misjudged(job.item, _completed(job, await backend.generate(observing)))
    return PairedRecord(
        arm=job.arm,
        task=job.item.task,
        item=job.item.digest,
        steps=generation.usage.steps_used,
        seconds=generation.timing.finished - generation.timing.started,
        correct=_passes(job.item, generation.text),
        misjudged=misjudged,
    )


def admitted(model: ModelInfo, side: Side, item: Item, *, tenant: str) -> tuple[Request, Assignment]:
    """Return an item's request as a server with this policy would give it to the backend, and what it was given.

    It names its task type and nothing else, so that it is of the policy's default class.
    """
    # A prompt that the other policy has left in the prefix cache would make this one look faster.
    request = Request(model=model.name, messages=item.messages, tenant=tenant)
    estimate = None if side.estimator is None else side.estimator.estimate(request, item.task, None)
    given = assign(side.active, request, Asked(task=item.task), model, task=item.task, estimate=estimate)
    check = make_check(item.messages, all_tasks()[item.task], None) if given.exit is not None else None
    return replace(request, budget=given.budget, strategy=given.strategy, exit=given.exit, check=check), given


def _completed(job: _Job, generation: Generation) -> Generation:
    if generation.outcome is not Outcome.COMPLETED:
        raise CurveRunError(
            f"item {job.item.digest} of {job.item.task} {generation.outcome} under the policy {job.arm}: "
            f"{generation.error or 'no reason given'}; go on with --resume once the backend is well"
        )
    return generation


def _misjudged(item: Item, full: Generation) -> bool | None:
    if full.exit is None:
        return None
    return _passes(item, full.text) and not _passes(item, full.exit.text)


def _passes(item: Item, text: str) -> bool:
    return all_tasks()[item.task].check(item, text).passed


SPLIT = Split.TEST
"""Items that neither training, nor any budget, nor any shift was chosen on."""
