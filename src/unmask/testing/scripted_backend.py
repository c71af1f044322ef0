"""A backend that plays what a test writes down, event by event."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence

from unmask.backend import Event, Generation, ModelInfo, Request, last_generation
from unmask.load import ModelLoad
from unmask.testing.builders import make_model
from unmask.testing.fake_backend import tell_left

Line = Event | Exception | asyncio.Event | float
"""An event that is told, an exception that is raised, something that is waited for, or seconds that it takes."""


class ScriptedBackend:
    """Serves each request by its script, one line in each turn of the event loop, and counts what is open.

    Args:
        script: the lines of a request, from the request and how many came before it.
        models: what it says it serves.
    """

    def __init__(
        self, script: Callable[[Request, int], Iterable[Line]], *, models: Sequence[ModelInfo] = (make_model("tiny"),)
    ) -> None:
        self._script = script
        self._models = tuple(models)
        self.requests: list[Request] = []
        self.open = 0
        self.aborted = 0

    def models(self) -> tuple[ModelInfo, ...]:
        """Return what it was told to serve."""
        return self._models

    def problems(self) -> tuple[str, ...]:
        """Return nothing: it always serves."""
        return ()

    def load(self) -> tuple[ModelLoad, ...]:
        """Return nothing: it has no engine."""
        return ()

    async def generate(self, request: Request) -> Generation:
        """Play the script and return the generation at its end."""
        return await last_generation(self.stream(request))

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Play the script."""
        lines = self._script(request, len(self.requests))
        self.requests.append(request)
        self.open += 1
        told = 0
        try:
            for line in lines:
                await asyncio.sleep(line if isinstance(line, float) else 0)
                if isinstance(line, Exception):
                    raise line
                if isinstance(line, asyncio.Event):
                    await line.wait()
                elif not isinstance(line, float):
                    told += 1
                    yield line
        except (asyncio.CancelledError, GeneratorExit):
            self.aborted += 1
            # Each event is taken for a step.
            tell_left(request, told)
            raise
        finally:
            self.open -= 1

    async def drain(self) -> None:
        """Return at once: there is nothing to stop."""
