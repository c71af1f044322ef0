"""Serves one call: all of its generations, or none."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

from unmask.api.call import Call
from unmask.api.cancel import cancel
from unmask.api.errors import UnfinishedError
from unmask.api.event_buffer import EventBuffer
from unmask.api.running import Running
from unmask.api.stopwatch import Stopwatch
from unmask.backend import Backend, DoneEvent, Generation
from unmask.control.admitted import Admitted
from unmask.control.controller import Controller
from unmask.types import Outcome

_LOG = logging.getLogger(__name__)
_Tasks = tuple[asyncio.Future[Generation], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """One call being served. Its generations run at the same time, and the first that fails ends the others.

    Attributes:
        call: admitted, so that its requests have their budgets.
        control: told how each request ended.
        request_id: what the log names the call by.
        stopwatch: told when the backend has the call, and when it says something.
    """

    call: Call
    backend: Backend
    running: Running
    control: Controller
    request_id: str
    stopwatch: Stopwatch

    async def collect(self) -> tuple[Generation, ...]:
        """Return a completed generation for every request, in their order; cancelling aborts them all.

        Raises:
            UnmaskError: whatever keeps the server or the backend from taking the call.
            UnfinishedError: a generation failed, or the server stopped it.
        """
        async with self._together(self._whole(admitted) for admitted in self.call.admitted) as tasks:
            await asyncio.wait(tasks)
            error = _failure(tasks)
            if error is not None:
                raise error
            return tuple(task.result() for task in tasks)

    @asynccontextmanager
    async def stream(self) -> AsyncIterator[EventBuffer]:
        """Run the requests into a buffer; what is not finished when the block ends is aborted.

        The buffer ends with the error that `collect` would raise, or without one after a `DoneEvent` for every
        request. What the server itself refuses is raised here.
        """
        buffer = EventBuffer()
        jobs = (self._streamed(index, admitted, buffer) for index, admitted in enumerate(self.call.admitted))
        async with self._together(jobs) as tasks:

            def ended(_: asyncio.Future[Generation]) -> None:
                if all(task.done() for task in tasks):
                    buffer.end(_failure(tasks))

            for task in tasks:
                task.add_done_callback(ended)
            yield buffer

    @asynccontextmanager
    async def _together(self, jobs: Iterable[Coroutine[Any, Any, Generation]]) -> AsyncIterator[_Tasks]:
        """Run jobs for as long as the block runs and none of them fails."""
        tasks = tuple(asyncio.ensure_future(job) for job in jobs)

        def ended(task: asyncio.Future[Generation]) -> None:
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

    async def _whole(self, admitted: Admitted) -> Generation:
        with self._settling(admitted) as settle:
            generation = await self.backend.generate(admitted.request)
            self.stopwatch.come_back()
            settle(self._completed(generation))
        return generation

    async def _streamed(self, index: int, admitted: Admitted, buffer: EventBuffer) -> Generation:
        done: Generation | None = None
        with self._settling(admitted) as settle:
            async with aclosing(self.backend.stream(admitted.request)) as events:
                async for event in events:
                    self.stopwatch.come_back()
                    if isinstance(event, DoneEvent):
                        done = self._completed(event.generation)
                        settle(done)
                    buffer.put(index, event)
        assert done is not None, "a stream ends with its generation"
        return done

    @contextmanager
    def _settling(self, admitted: Admitted) -> Iterator[Callable[[Generation], None]]:
        """Yield what settles the request; one that leaves the block without is abandoned."""
        settled = False

        def settle(generation: Generation) -> None:
            nonlocal settled
            settled = True
            self.control.settle(admitted, generation, self.request_id)

        try:
            yield settle
        finally:
            if not settled:
                self.control.abandon(admitted)

    def _completed(self, generation: Generation) -> Generation:
        if generation.outcome is Outcome.COMPLETED:
            return generation
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
