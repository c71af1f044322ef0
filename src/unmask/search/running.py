"""Runs the generations of one search side by side, within its steps and its deadline."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum

from unmask.backend import Generation, Lever, ModelInfo, Request
from unmask.clock import Clock
from unmask.errors import UnmaskError
from unmask.search.plan import SearchPlan
from unmask.search.purse import Purse
from unmask.search.reward import RewardDesk
from unmask.search.room import Room
from unmask.search.score import Agreement, said
from unmask.service import ClassTerms
from unmask.types import DraftCheck, Outcome, StepBudget

_LOG = logging.getLogger(__name__)

Generate = Callable[[Request], Awaitable[Generation]]
"""Runs a request to its end, as `unmask.backend.Backend.generate` does; cancelling the call aborts it."""


class GenerationEndedError(UnmaskError):
    """A generation ended without an answer, and there is no other.

    Attributes:
        generation: as it ended.
    """

    def __init__(self, generation: Generation) -> None:
        super().__init__(f"the generation ended {generation.outcome}: {generation.error or 'no reason given'}")
        self.args = (generation,)
        self.generation = generation


class Limit(StrEnum):
    """What kept a search from going on: its steps, its deadline, a machine without room for more, or with less room."""

    MAX_TOTAL_STEPS = "max_total_steps"
    DEADLINE = "deadline"
    PRESSED = "pressed"
    NARROWED = "narrowed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One request, and what its search works with.

    Attributes:
        request: as it would be run without a search.
        generate: runs requests.
        check: the request's verifier, if it has one.
        refutes: tells of the beginning of an answer that no continuation passes the verifier, if anything can.
        accepts_drafts: whether the verifier judges what an answer says, and not its form alone, so that a whole draft
            that passes is as good as the answer it would become.
        agreement: what of two answers has to be the same for them to agree; by default their words.
        desk: asks a reward endpoint, if there is one.
        clock: the deadline's.
        spare: what generations that no answer waits for have of the machine; ``None``: what the request has. A class
            of low weight makes them wait for everyone else's work.
        deadline: when an answer has to be there, on the clock. From then on nothing is begun, and what runs is
            dropped as soon as there is an answer.
        room: how many of its generations the machine has room for, as that changes.
    """

    plan: SearchPlan
    request: Request
    model: ModelInfo
    generate: Generate
    clock: Clock
    check: DraftCheck | None = None
    refutes: DraftCheck | None = None
    accepts_drafts: bool = False
    agreement: Agreement = said
    desk: RewardDesk | None = None
    spare: ClassTerms | None = None
    deadline: float | None = None
    room: Room = field(default_factory=Room)

    @property
    def canvas_length(self) -> int:
        """Tokens of a canvas."""
        return self.request.canvas_length or self.model.default_canvas_length

    @property
    def max_tokens(self) -> int:
        """Most tokens of an answer."""
        return self.request.max_tokens or self.model.default_max_tokens

    @property
    def canvases(self) -> int:
        """Most canvases of an answer."""
        return self.model.canvases_of(self.max_tokens, self.canvas_length)

    @property
    def max_steps(self) -> int:
        """Most steps of a canvas."""
        budget = self.request.budget
        return self.model.default_steps_of(self.request.canvas_length) if budget is None else budget.max_steps

    @property
    def most_steps(self) -> int:
        """Most steps of the request, run once."""
        budget = self.request.budget
        if budget is not None and budget.max_total_steps is not None:
            return budget.max_total_steps
        return self.max_steps * self.canvases

    @property
    def total(self) -> int:
        """Most steps of everything."""
        return self.plan.max_total_steps or self.plan.width * self.most_steps

    @property
    def left_s(self) -> float | None:
        """Seconds until the deadline; ``None`` without one."""
        return None if self.deadline is None else max(0.0, self.deadline - self.clock.now())

    @property
    def has_budget(self) -> bool:
        """Whether the model takes a budget; one without takes the steps it takes."""
        return Lever.BUDGET in self.model.levers


class Runner:
    """Runs generations for a search and books all of them.

    Attributes:
        purse: steps left.
        generations: all that have ended, aborted ones included, in the order they ended.
        notes: what went wrong without ending the search, and what was left out.
        limit: what kept the search from going on, if anything did.
        dropped: generations that this kept from their end, or from being begun at all.
        has_answer: whether there is an answer, so that what runs may be dropped; whoever drives the search says so.
        beside: generations of earlier calls of `together` that count towards the width; whoever drives it says so too.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.purse = Purse(setting.total)
        self.generations: list[Generation] = []
        self.notes: list[str] = []
        self.limit: Limit | None = None
        self.dropped = 0
        self.has_answer = False
        self.beside = 0

    @property
    def width(self) -> int:
        """How wide the search may be at present: as its plan has it, or less where the machine has less room."""
        most = self.setting.room.most
        return self.setting.plan.width if most is None else min(self.setting.plan.width, most)

    def limiting(self) -> Limit | None:
        """Return why nothing more may be begun, if that is so."""
        if self.setting.room.is_pressed:
            return Limit.PRESSED
        if self.setting.deadline is not None and self.setting.clock.now() >= self.setting.deadline:
            return Limit.DEADLINE
        return Limit.MAX_TOTAL_STEPS if self.purse.is_idle and self.purse.left < 1 else None

    def is_over(self, begun: int = 0) -> bool:
        """Tell whether nothing may be begun beside so many generations of its width; `limit` then says why."""
        found = self.limiting() or (Limit.NARROWED if begun >= self.width else None)
        self.limit = found or self.limit
        return found is not None

    async def one(self, request: Request, most: int) -> Generation | None:
        """Run one generation; see `together`."""
        return (await self.together([request], most))[0]

    async def together(
        self, requests: Sequence[Request], most: int, *, is_enough: Callable[[Generation], bool] | None = None
    ) -> list[Generation | None]:
        """Run generations side by side and return them in order; nothing for those that did not complete.

        Each is begun once the steps it may take are there; the last may have fewer. Where the search is over those
        that run are dropped, and where it is to be narrower the last of them; without an answer the first of them is
        run to its end.

        Args:
            requests: what is run, in the order it is begun.
            most: denoise steps that each may take.
            is_enough: told of each that completes; those behind one that is enough are dropped. Those before it go
                on, so that which is taken does not depend on which is quickest.

        Raises:
            UnmaskError: none completed and there is no answer: what kept the first from it.
        """
        family = _Family(runner=self, requests=requests, most=most, is_enough=is_enough)
        found = await family.run()
        if not self.has_answer and family.error is not None and all(one is None for one in found):
            raise family.error
        return found

    def note(self, text: str, level: int = logging.WARNING) -> None:
        """Say what went wrong, or was left out."""
        _LOG.log(level, "search: %s", text)
        self.notes.append(text)

    def cut(self, count: int, what: str, limit: Limit) -> None:
        """Count generations that a limit keeps from their end; under load every search has some, so no log warns."""
        self.limit = limit
        self.note(f"{count} generations were {what}: {limit}", logging.INFO)
        self.dropped += count


class _Family:
    """Generations that run side by side."""

    def __init__(
        self,
        *,
        runner: Runner,
        requests: Sequence[Request],
        most: int,
        is_enough: Callable[[Generation], bool] | None,
    ) -> None:
        self.error: UnmaskError | None = None
        self._runner = runner
        self._most = most
        self._is_enough = is_enough
        self._waiting = deque(enumerate(requests))
        self._running: dict[asyncio.Task[Generation], int] = {}
        self._found: list[Generation | None] = [None] * len(requests)

    async def run(self) -> list[Generation | None]:
        try:
            self._begin()
            while self._running:
                for task in await self._ended():
                    await self._take(task)
                await self._shed()
                self._begin()
        finally:
            await self._drop(list(self._running))
        return self._found

    def _begin(self) -> None:
        runner = self._runner
        surplus = len(self._running) + len(self._waiting) - self._places()
        if self._waiting and surplus > 0:
            count = min(surplus, len(self._waiting))
            runner.cut(count, "not begun", runner.limiting() or Limit.NARROWED)
            for _ in range(count):
                self._waiting.pop()
        while self._waiting:
            held = runner.purse.hold(self._most)
            if not held:
                # More comes back once something ends, if anything runs.
                return
            index, request = self._waiting.popleft()
            self._running[asyncio.ensure_future(self._generated(request, held))] = index

    def _places(self) -> int:
        """Return how many generations may run or wait: without an answer one at least."""
        runner, ended = self._runner, sum(one is not None for one in self._found)
        least = 0 if runner.has_answer or ended else 1
        return least if runner.limiting() is not None else max(least, runner.width - runner.beside - ended)

    async def _ended(self) -> set["asyncio.Task[Generation]"]:
        """Wait for whichever comes first: a generation's end, the deadline, or word that there is another room."""
        setting = self._runner.setting
        if self._runner.limiting() is not None:
            # What runs now is what an answer waits for.
            return (await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED))[0]
        with _waiting_for(setting.room.changed) as other:
            ended, _ = await asyncio.wait(
                {*self._running, other}, timeout=setting.left_s, return_when=asyncio.FIRST_COMPLETED
            )
        return {task for task in ended if task in self._running}  # type: ignore[misc]

    async def _shed(self) -> None:
        """Drop what there is no place for, the last first."""
        while dropped := sorted(self._running, key=self._running.__getitem__)[self._places() :]:
            self._runner.cut(len(dropped), "dropped", self._runner.limiting() or Limit.NARROWED)
            await self._drop(dropped)

    async def _take(self, task: "asyncio.Task[Generation]") -> None:
        index = self._running.pop(task, None)
        if index is None:
            # It ended as it was dropped.
            return
        try:
            generation = task.result()
        except UnmaskError as error:
            self.error = self.error or error
            self._runner.note(f"a generation could not be run: {error}")
            return
        if generation.outcome is not Outcome.COMPLETED:
            self.error = self.error or GenerationEndedError(generation)
            self._runner.note(str(GenerationEndedError(generation)))
            return
        self._found[index] = generation
        if self._is_enough is not None and self._is_enough(generation):
            self._waiting.clear()
            await self._drop([other for other, place in self._running.items() if place > index])

    async def _drop(self, tasks: Sequence["asyncio.Task[Generation]"]) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for task in tasks:
            self._running.pop(task, None)

    async def _generated(self, request: Request, held: int) -> Generation:
        """Run a request within the steps held for it, and book what it takes, whatever becomes of it."""
        runner, used = self._runner, held
        budget = StepBudget(max_steps=_steps_of(request, runner.setting), max_total_steps=held)
        told: list[Generation] = []

        def left(generation: Generation) -> None:
            told.append(generation)
            if request.left is not None:
                request.left(generation)

        asked = replace(request, budget=budget if runner.setting.has_budget else None, left=left)
        try:
            generation = await runner.setting.generate(asked)
        except UnmaskError:
            # It was not taken, so it took nothing.
            used = 0
            raise
        else:
            told.append(generation)
            return generation
        finally:
            # Of one that went away without a word the most is booked.
            for ended in told[-1:]:
                used = ended.usage.steps_used if ended.usage.steps_known else held
                runner.generations.append(ended)
            runner.purse.settle(held, used)


def _steps_of(request: Request, setting: Setting) -> int:
    return setting.max_steps if request.budget is None else request.budget.max_steps


@contextmanager
def _waiting_for(event: asyncio.Event) -> "Iterator[asyncio.Task[object]]":
    """Yield what ends once an event is set."""
    task: asyncio.Task[object] = asyncio.ensure_future(event.wait())
    try:
        yield task
    finally:
        task.cancel()
