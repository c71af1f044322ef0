"""Serves one call: all of its generations, or none."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from unmask.api.breaking import broken_off, reason_of
from unmask.api.call import Call, Delivery
from unmask.api.cancel import cancel
from unmask.api.errors import UnfinishedError
from unmask.api.event_buffer import EventBuffer
from unmask.api.running import Running
from unmask.api.stopwatch import Stopwatch
from unmask.backend import Backend, CommitEvent, DoneEvent, Generation, Request
from unmask.cache.cache import Match
from unmask.control.account import Account
from unmask.control.admitted import Admitted
from unmask.control.answered import Answered
from unmask.control.attempt import AttemptReason
from unmask.control.cached import Looked
from unmask.control.controller import Controller
from unmask.control.errors import CapReachedError
from unmask.control.searching import Begun
from unmask.errors import UnmaskError
from unmask.types import Outcome

_LOG = logging.getLogger(__name__)
_Tasks = tuple[asyncio.Future[Answered], ...]
_Settle = Callable[[Answered], Answered]


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """One call being served. Its generations run at the same time, and the first that fails ends the others.

    Attributes:
        call: admitted, so that its requests have their budgets.
        control: told how each request ended.
        request_id: what the log names the call by.
        stopwatch: told when the backend has the call, and when it says something.
        account: the call's books: reserved before anything is submitted, settled before its last byte.
        matches: how the cache has found each choice, once it was asked.
    """

    call: Call
    backend: Backend
    running: Running
    control: Controller
    request_id: str
    stopwatch: Stopwatch
    account: Account
    matches: dict[int, Match] = field(default_factory=dict)

    async def collect(self) -> tuple[Answered, ...]:
        """Return an answer to every request, in their order; cancelling aborts them all.

        Raises:
            UnmaskError: whatever keeps the server or the backend from taking the call.
            UnfinishedError: a generation failed, or the server stopped it.
        """
        jobs = (self._whole(index, admitted) for index, admitted in enumerate(self.call.admitted))
        async with self._booked(), self._together(jobs) as tasks:
            await asyncio.wait(tasks)
            error = _failure(tasks)
            if error is not None:
                raise error
            await self.account.complete()
            return tuple(task.result() for task in tasks)

    @asynccontextmanager
    async def stream(self) -> AsyncIterator[EventBuffer]:
        """Run the requests into a buffer; what is not finished when the block ends is aborted.

        The buffer ends with the error that `collect` would raise, or without one after an `Answered` for every
        request. What the server itself refuses is raised here.
        """
        buffer = EventBuffer()
        jobs = (self._streamed(index, admitted, buffer) for index, admitted in enumerate(self.call.admitted))
        async with self._booked(), self._together(jobs) as tasks:
            closing = asyncio.ensure_future(self._close(tasks, buffer))
            try:
                yield buffer
            finally:
                await cancel(closing)

    async def _close(self, tasks: _Tasks, buffer: EventBuffer) -> None:
        """Settle a stream once all of it has run; only then is it told that it has ended, and how."""
        await asyncio.wait(tasks)
        error = _failure(tasks)
        try:
            if error is None:
                await self.account.complete()
            else:
                await self._break_off(error)
        except Exception as unsettled:  # noqa: BLE001 - whoever writes the stream waits for its end, whatever it is
            error = unsettled
        if error is None and self.account.is_booked:
            for index, task in enumerate(tasks):
                buffer.put(index, task.result())
        buffer.end(error)

    @asynccontextmanager
    async def _booked(self) -> AsyncIterator[None]:
        """Reserve the call for as long as the block runs, and settle what it does not settle itself."""
        try:
            self.running.check(len(self.call.requests), self.call.requests[0].terms.name)
        except UnmaskError as error:
            await self.account.refuse(reason_of(error))
            raise
        await self.account.open()
        try:
            yield
        except BaseException as error:
            await self._break_off(error)
            raise
        await self._break_off(None)

    async def _break_off(self, error: BaseException | None) -> None:
        """Settle a call that an error ends; one whose class fails it then tells what it cost."""
        await self.account.break_off(broken_off(error))
        if isinstance(error, CapReachedError):
            error.settled = self.account.settled

    @asynccontextmanager
    async def _together(self, jobs: Iterable[Coroutine[Any, Any, Answered]]) -> AsyncIterator[_Tasks]:
        """Run jobs for as long as the block runs and none of them fails."""
        tasks = tuple(asyncio.ensure_future(job) for job in jobs)

        def ended(task: asyncio.Future[Answered]) -> None:
            if task.cancelled() or task.exception() is not None:
                for other in tasks:
                    other.cancel()

        try:
            with self.running.track(*tasks, service_class=self.call.requests[0].terms.name):
                for task in tasks:
                    task.add_done_callback(ended)
                self.stopwatch.hand_over()
                yield tasks
        finally:
            await cancel(*tasks)

    async def _whole(self, index: int, admitted: Admitted) -> Answered:
        with self._settling(index, admitted) as settle:
            async with self._looking(index, admitted, may_wait=True) as looked:
                if looked is not None and looked.answered is not None:
                    return settle(looked.answered)
                generate = partial(self._generated, index)
                begun = await self.control.begin(admitted, generate, arrived=self.account.arrived)
                answered = settle(await self._concluded(index, admitted, begun))
                return self.control.keep(admitted, looked, answered, self.request_id)

    async def _streamed(self, index: int, admitted: Admitted, buffer: EventBuffer) -> Answered:
        if self.call.delivery is Delivery.VERIFIED:
            answered = await self._whole(index, admitted)
            generation = answered.generation
            self.account.told()
            buffer.put(index, CommitEvent(text=generation.text, logprobs=generation.logprobs))
        else:
            answered = await self._committed(index, admitted, buffer)
        # What ends a choice goes out once it is settled.
        if not self.account.is_booked:
            buffer.put(index, answered)
        return answered

    async def _committed(self, index: int, admitted: Admitted, buffer: EventBuffer) -> Answered:
        """Run a request and put what it says into the buffer as it is said."""
        with self._settling(index, admitted) as settle:
            # Text that is wanted as it is made is not waited for until somebody else has all of it.
            async with self._looking(index, admitted, may_wait=False) as looked:
                if looked is not None and looked.answered is not None:
                    generation = looked.answered.generation
                    self.account.told()
                    buffer.put(index, CommitEvent(text=generation.text, logprobs=generation.logprobs))
                    return settle(looked.answered)
                done = await self._said(index, admitted, buffer)
                # What has been said goes out before it is judged.
                await asyncio.sleep(0)
                answered = settle(await self._concluded(index, admitted, Begun(first=done)))
                return self.control.keep(admitted, looked, answered, self.request_id)

    async def _said(self, index: int, admitted: Admitted, buffer: EventBuffer) -> Generation:
        """Run a request once, and put what it says into the buffer."""
        done: Generation | None = None
        first = AttemptReason.FIRST
        self.stopwatch.hand_over()
        watched = self.account.watched(index, admitted.opening, first)
        async with aclosing(self.backend.stream(watched)) as events:
            async for event in events:
                self.stopwatch.come_back()
                if isinstance(event, DoneEvent):
                    done = event.generation
                    self.account.ran(index, watched, first, done)
                else:
                    self.account.told()
                    buffer.put(index, event)
        assert done is not None, "a stream ends with its generation"
        return done

    @asynccontextmanager
    async def _looking(self, index: int, admitted: Admitted, *, may_wait: bool) -> AsyncIterator[Looked | None]:
        """Ask the cache for a choice, which is made within the block where it has none."""
        self.stopwatch.come_back()
        elsewhere = self.stopwatch.elsewhere if may_wait else None
        async with self.control.looking(admitted, elsewhere) as looked:
            if looked is not None:
                self.matches[index] = looked.found.match
            yield looked

    async def _concluded(self, index: int, admitted: Admitted, begun: Begun) -> Answered:
        self._check_completed(begun.first)
        return await self.control.conclude(admitted, begun, partial(self._generated, index))

    async def _generated(self, index: int, request: Request, reason: AttemptReason) -> Generation:
        self.stopwatch.hand_over()
        generation = await self.backend.generate(self.account.watched(index, request, reason))
        self.stopwatch.come_back()
        self.account.ran(index, request, reason, generation)
        return generation

    @contextmanager
    def _settling(self, index: int, admitted: Admitted) -> Iterator[_Settle]:
        """Yield what takes a request's answer; a request that has none by then is abandoned."""
        settled = False

        def settle(answered: Answered) -> Answered:
            nonlocal settled
            settled = True
            self.account.decided(index, answered)
            self.control.settle(admitted, answered, self.request_id)
            return answered

        try:
            yield settle
        finally:
            if not settled:
                self.control.abandon(admitted)

    def _check_completed(self, generation: Generation) -> None:
        """Raise what a first attempt without an answer is to its client."""
        if generation.outcome is Outcome.COMPLETED:
            return
        if generation.outcome is Outcome.ABORTED:
            raise UnfinishedError(
                "The server stopped this request before it was finished. Send it again.", Outcome.ABORTED
            )
        _LOG.error("request %s failed: %s", self.request_id, generation.error)
        message = f"The generation failed; the server's log says why under {self.request_id}."
        raise UnfinishedError(message, generation.outcome)


def _failure(tasks: _Tasks) -> BaseException | None:
    """Return why the first of ended tasks to fail by itself did; failing that, that somebody else stopped them."""
    errors = (task.exception() for task in tasks if not task.cancelled())
    error = next((error for error in errors if error is not None), None)
    if error is None and any(task.cancelled() for task in tasks):
        return UnfinishedError("The server stops and could not wait for this request.", Outcome.ABORTED)
    return error
