"""Answers items in every arm of the search bench, on one engine."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from unmask.backend import Backend, Generation, Request
from unmask.bench.search_arms import SearchArm
from unmask.bench.search_items import agreement_of, check_of
from unmask.bench.search_journal import Answer, SearchJournal
from unmask.clock import Clock
from unmask.errors import UnmaskError
from unmask.search.plan import SearchPlan
from unmask.search.requests import drawn
from unmask.search.running import Setting
from unmask.search.score import confidence_of
from unmask.search.search import search
from unmask.service import SearchMethod
from unmask.tasks.item import Item
from unmask.tasks.registry import all_tasks
from unmask.types import Outcome, StepBudget

AT_ONCE = 12
"""Items that are answered at the same time, so that the engine's rows are full."""


Answers = Mapping[str, Sequence[Answer]]
"""By arm, in the order of the items."""


class Memo:
    """Runs requests of one item, each once: arms that send the same request share its run, and each pays for it."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._runs: dict[Request, asyncio.Task[Generation]] = {}

    async def __call__(self, request: Request) -> Generation:
        """Return what a request comes to."""
        key = replace(request, left=None)
        if key not in self._runs:
            self._runs[key] = asyncio.ensure_future(self._backend.generate(key))
        return await asyncio.shield(self._runs[key])


async def ask_all(
    backend: Backend,
    clock: Clock,
    items: Sequence[Item],
    arms: Sequence[SearchArm],
    journal: SearchJournal,
    done: Callable[[int], None],
) -> dict[str, list[Answer]]:
    """Answer items in every arm; return the answers by arm, in the order of the items.

    Args:
        backend: serves the bench's model alone.
        clock: of the searches.
        items: what is asked.
        arms: how.
        journal: what it has is not run; it is told of everything else.
        done: told of every item that all arms have answered.

    Raises:
        UnmaskError: the engine failed a run.
    """
    gate = asyncio.Semaphore(AT_ONCE)
    (model,) = backend.models()

    async def ask(item: Item) -> list[Answer]:
        async with gate:
            request = Request(model=model.name, messages=item.messages)
            check = check_of(item)
            # Arms have many texts in common, and reading what a character claims takes longer than a step.
            setting = Setting(
                plan=SearchPlan(),
                request=request,
                model=model,
                generate=Memo(backend),
                clock=clock,
                check=cache(check.passes),
                refutes=None if check.refutes is None else cache(check.refutes),
                accepts_drafts=check.accepts_drafts,
                agreement=cache(agreement_of(item)),
            )
            found = [await _kept(setting, item, arm, journal) for arm in arms]
            done(1)
            return found

    by_item = await asyncio.gather(*map(ask, items))
    return {arm.name: [answers[place] for answers in by_item] for place, arm in enumerate(arms)}


async def _kept(setting: Setting, item: Item, arm: SearchArm, journal: SearchJournal) -> Answer:
    found = journal.answer(item, arm)
    if found is None:
        found = await _answer(setting, item, arm)
        journal.note(item, arm, found)
    return found


async def _answer(setting: Setting, item: Item, arm: SearchArm) -> Answer:
    setting = replace(
        setting,
        plan=arm.plan or SearchPlan(method=SearchMethod.CANDIDATES, width=arm.width),
        request=replace(setting.request, budget=StepBudget(max_steps=arm.steps)),
    )
    if arm.plan is None:
        ran = await retries(setting)
        return _judged(item, ran[-1], ran, sum(one.usage.steps_used for one in ran))
    found = await search(setting)
    failed = next((note for note in found.notes if "could not be run" in note or "ended" in note), None)
    if failed is not None:
        raise UnmaskError(f"item {item.digest} of {item.task}, {arm.name}: {failed}")
    return _judged(item, found.best.generation, found.generations, found.steps)


async def retries(setting: Setting) -> list[Generation]:
    """Run a request again until its verifier passes the answer, as a client would: the last one is the answer.

    The first is the request as it is, the others are drawn as candidates are, and each may take as many steps.
    """
    ran: list[Generation] = []
    for number in range(setting.plan.width):
        budget = StepBudget(max_steps=setting.max_steps, max_total_steps=setting.most_steps)
        generation = await setting.generate(replace(drawn(setting, number), budget=budget))
        if generation.outcome is not Outcome.COMPLETED:
            raise UnmaskError(f"a retry ended {generation.outcome}: {generation.error or 'no reason given'}")
        ran.append(generation)
        if setting.check is not None and setting.check(generation.text):
            break
    return ran


def _judged(item: Item, best: Generation, ran: Sequence[Generation], steps: int) -> Answer:
    return Answer(
        steps=steps,
        seconds=sum(one.timing.finished - one.timing.started for one in ran),
        correct=all_tasks()[item.task].check(item, best.text).passed,
        confidence=confidence_of(best),
    )
