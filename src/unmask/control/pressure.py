"""How much room a machine has for work that nobody waits for."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from unmask.load import ModelLoad
from unmask.search.room import Room

_LOG = logging.getLogger(__name__)

LOOK_S = 0.05
"""Seconds between two looks."""
PRESSED_S = 0.2
"""Seconds of waiting from which somebody is kept from a place: several ticks, while an arrival waits for the next."""


def is_pressed(load: ModelLoad) -> bool:
    """Tell whether others than searches have waited for a place in the batch, or for pages, for several ticks."""
    return any(queue.waiting > 0 and queue.oldest_s >= PRESSED_S and not queue.is_spare for queue in load.queues)


async def _pause() -> None:
    await asyncio.sleep(LOOK_S)


Watch = tuple[str, str]
"""A model and a service class of its requests."""


class Pressure:
    """Looks at the load of models for as long as a search runs, once for all of them.

    Args:
        load: returns what each model has to do, at once.
        width: returns how wide searches of a model and class may be by their quality level; ``None`` as wide as asked.
        pause: waits until the next look.
    """

    def __init__(
        self,
        load: Callable[[], Sequence[ModelLoad]],
        width: Callable[[str, str], int | None] = lambda _, __: None,
        pause: Callable[[], Awaitable[None]] = _pause,
    ) -> None:
        self._load = load
        self._width = width
        self._pause = pause
        self._rooms: dict[Watch, Room] = {}
        self._watchers: Counter[Watch] = Counter()
        self._looking: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def watched(self, model: str, service_class: str) -> AsyncIterator[Room]:
        """Yield how much room a model has for searches of a class, as that changes within the block."""
        watch = model, service_class
        room = self._rooms.setdefault(watch, Room())
        self._watchers[watch] += 1
        self._look()
        if self._looking is None:
            self._looking = asyncio.ensure_future(self._go_on())
        try:
            yield room
        finally:
            self._watchers[watch] -= 1
            if not self._watchers[watch]:
                del self._watchers[watch], self._rooms[watch]
            if not self._watchers:
                self._looking.cancel()
                self._looking = None

    async def _go_on(self) -> None:
        while True:
            await self._pause()
            self._look()

    def _look(self) -> None:
        pressed = self._pressed()
        for (model, service_class), room in self._rooms.items():
            room.leave(self._width(model, service_class), is_pressed=model in pressed)

    def _pressed(self) -> set[str]:
        try:
            return {load.model for load in self._load() if is_pressed(load)}
        except Exception:  # noqa: BLE001 - no search fails because nobody knows how busy the machine is
            _LOG.exception("the load of the backend cannot be read")
            return set()
