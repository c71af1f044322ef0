"""A backend that counts and times what goes through it."""

from asyncio import CancelledError
from collections.abc import AsyncGenerator
from contextlib import aclosing

from unmask.backend import Backend, CommitEvent, DoneEvent, Event, Generation, Request
from unmask.clock import Clock
from unmask.errors import UnmaskError
from unmask.metrics.generations import GenerationInstruments
from unmask.metrics.in_front import BackendInFront
from unmask.types import Outcome


class MeasuredBackend(BackendInFront):
    """Serves as the backend behind it does; every generation that it begins is counted once it ends.

    A refusal is no generation. One whose caller leaves ends as aborted.
    """

    def __init__(self, backend: Backend, instruments: GenerationInstruments, clock: Clock) -> None:
        super().__init__(backend)
        self._instruments = instruments
        self._clock = clock

    async def generate(self, request: Request) -> Generation:
        """Run a request to its end."""
        try:
            generation = await self._backend.generate(request)
        except BaseException as error:
            self._broke_off(request, error)
            raise
        self._instruments.ended(request.model, generation)
        return generation

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Run a request and yield its events."""
        began = self._clock.now()
        silent, ended = True, False
        try:
            async with aclosing(self._backend.stream(request)) as events:
                async for event in events:
                    if silent and isinstance(event, CommitEvent) and event.text:
                        silent = False
                        self._instruments.first_text(request.model, self._clock.now() - began)
                    if isinstance(event, DoneEvent):
                        ended = True
                        self._instruments.ended(request.model, event.generation)
                    yield event
        except BaseException as error:
            if not ended:
                self._broke_off(request, error)
            raise

    def _broke_off(self, request: Request, error: BaseException) -> None:
        match error:
            case UnmaskError():
                pass
            case CancelledError() | GeneratorExit():
                self._instruments.abandoned(request.model, Outcome.ABORTED)
            case _:
                self._instruments.abandoned(request.model, Outcome.FAILED)
