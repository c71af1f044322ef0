"""The `Backend` that is an engine of another process."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace

from unmask.backend import DoneEvent, Event, Generation, ModelInfo, Request, Timing, Usage, last_generation
from unmask.clock import Clock
from unmask.cluster.call import Refusal, dated, make_call, moved
from unmask.cluster.errors import ReplicaLostError
from unmask.cluster.link import Link, Member
from unmask.draining import Drain
from unmask.errors import NoCapacityError
from unmask.load import EngineState, ModelLoad
from unmask.types import ExitReason, Outcome

ABORT_S = 5.0
"""Longest that an aborted call is waited for, to learn what it took."""
CLEARED_BY = 2
"""Later answers of a lost engine that show it is back: the first may have been on its way when it was lost."""

_LOG = logging.getLogger(__name__)


class Slot:
    """One place for an engine; which engine is there, if any, is told from outside.

    Args:
        models: what every engine of the fleet serves.
        clock: of the times that answers carry.
        new_id: names calls.
    """

    def __init__(self, models: tuple[ModelInfo, ...], clock: Clock, new_id: Callable[[], str]) -> None:
        self._models = models
        self._clock = clock
        self._new_id = new_id
        self._member: Member | None = None
        self._lost: tuple[str, int] | None = None
        self._drain = Drain()

    def hold(self, member: Member | None) -> None:
        """Take note of which engine is here, and of what it says; one that says nothing is as it was."""
        if member is not None and member.status is None and self._member is not None:
            member = replace(member, status=self._member.status)
        self._member = member
        status = None if member is None else member.status
        if status is None or self._lost is None:
            return
        incarnation, count = self._lost
        if status.incarnation != incarnation or status.count >= count + CLEARED_BY:
            self._lost = None

    def models(self) -> tuple[ModelInfo, ...]:
        """Return what is served."""
        return self._models

    def problems(self) -> tuple[str, ...]:
        """Say what keeps requests away."""
        member = self._member
        if member is None or member.status is None:
            return ()
        found = (member.problem, "it was lost" if self._lost is not None else None)
        return (*(one for one in found if one is not None), *member.status.problems)

    def load(self) -> tuple[ModelLoad, ...]:
        """Return what the engine has last said; nothing where none has been here."""
        member = self._member
        if member is None or member.status is None:
            return ()
        if member.problem is None and self._lost is None:
            return member.status.loads
        return tuple(replace(load, state=EngineState.STOPPED) for load in member.status.loads)

    async def generate(self, request: Request) -> Generation:
        """Run a request to its end."""
        return await last_generation(self.stream(request))

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Run a request and yield its events; one that is lost with its engine ends as failed, with nothing taken.

        Raises:
            NoCapacityError: no engine is here.
            UnmaskError: what the engine refuses it with.
        """
        member = self._member
        with self._drain.opened():
            if member is None or member.status is None:
                raise NoCapacityError("the engine is not there; send the request again")
            arrived = self._clock.now() if request.arrived is None else request.arrived
            try:
                async with aclosing(self._events(member.link, request)) as events:
                    async for event in events:
                        yield event
            except ReplicaLostError as error:
                self._lost = member.status.incarnation, self._count_of(member.status.incarnation)
                yield DoneEvent(generation=self._lost_generation(request, arrived, error.message))

    async def drain(self) -> None:
        """Accept nothing new from here and wait for what runs; the engine itself goes on, for other gateways."""
        await self._drain.run()

    async def _events(self, link: Link, request: Request) -> AsyncGenerator[Event, None]:
        name = self._new_id()
        is_over = False
        async with aclosing(link.stream(name, make_call(request, self._clock.now()))) as items:
            try:
                async for item in items:
                    if isinstance(item, Refusal):
                        is_over = True
                        raise item.error
                    is_over = isinstance(item, DoneEvent)
                    yield dated(item, self._clock.now())
            except ReplicaLostError:
                is_over = True
                raise
            finally:
                if not is_over:
                    await self._abort(link, name, request)

    async def _abort(self, link: Link, name: str, request: Request) -> None:
        """Stop a call whose caller has left, and tell what it took to whoever wants to know."""
        try:
            async with asyncio.timeout(ABORT_S):
                took = await link.abort(name)
        except (ReplicaLostError, TimeoutError) as error:
            _LOG.warning("what an abandoned request took is not known: %s", error)
            return
        if took is not None and request.left is not None:
            request.left(moved(took, self._clock.now()))

    def _count_of(self, incarnation: str) -> int:
        status = None if self._member is None else self._member.status
        return status.count if status is not None and status.incarnation == incarnation else 0

    def _lost_generation(self, request: Request, arrived: float, error: str) -> Generation:
        now = self._clock.now()
        usage = Usage(
            prompt_tokens=0,
            completion_tokens=0,
            cached_tokens=0,
            prefill_tokens=0,
            commit_tokens=0,
            steps_allocated=0 if request.budget is None else request.budget.max_total_steps or 0,
            steps_used=0,
            canvases=0,
            exit_reason=ExitReason.FAILED,
            steps_known=False,
            tokens_known=False,
        )
        return Generation(
            outcome=Outcome.FAILED,
            finish_reason=None,
            text="",
            tokens=(),
            usage=usage,
            timing=Timing(arrived=arrived, started=arrived, finished=now),
            error=error,
            bucket=request.bucket,
        )
