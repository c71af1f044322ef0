"""Whether a machine has room for work that nobody waits for."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from unmask.load import ModelLoad

LOOK_S = 0.05
"""Seconds between two looks."""
PRESSED_S = 0.2
"""Seconds of waiting from which somebody is kept from a place: several ticks, while an arrival waits for the next."""


def is_pressed(load: ModelLoad) -> bool:
    """Tell whether others than searches have waited for a place in the batch, or for pages, for several ticks."""
    return any(queue.waiting > 0 and queue.oldest_s >= PRESSED_S and not queue.is_spare for queue in load.queues)


async def _pause() -> None:
    await asyncio.sleep(LOOK_S)


class Pressure:
    """Looks at the load of models for as long as somebody wants to know, once for all of them.

    Args:
        load: returns what each model has to do, at once.
        pause: waits until the next look.
    """

    def __init__(self, load: Callable[[], Sequence[ModelLoad]], pause: Callable[[], Awaitable[None]] = _pause) -> None:
        self._load = load
        self._pause = pause
        self._pressed: dict[str, asyncio.Event] = {}
        self._watchers = 0
        self._looking: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def watched(self, model: str) -> AsyncIterator[asyncio.Event]:
        """Yield what is set for as long as a model has no room, within the block."""
        pressed = self._pressed.setdefault(model, asyncio.Event())
        self._watchers += 1
        self._look()
        if self._looking is None:
            self._looking = asyncio.ensure_future(self._go_on())
        try:
            yield pressed
        finally:
            self._watchers -= 1
            if not self._watchers:
                self._looking.cancel()
                self._looking = None

    async def _go_on(self) -> None:
        while True:
            await self._pause()
            self._look()

    def _look(self) -> None:
        for load in self._load():
            pressed = self._pressed.get(load.model)
            if pressed is None:
                continue
            if is_pressed(load):
                pressed.set()
            else:
                pressed.clear()
