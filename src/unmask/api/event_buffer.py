"""What a backend has said and a client has not been sent yet."""

import asyncio
from dataclasses import dataclass

from unmask.backend import CommitEvent, StepEvent
from unmask.control.answered import Answered


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceEvent:
    """An event of one choice of an answer; the last one is its decision."""

    index: int
    event: StepEvent | CommitEvent | Answered


class EventBuffer:
    """Events of a call, between its generations and the socket.

    Putting never waits, so that a client who does not read holds up nobody;
    yet no more is kept than the answer itself and a snapshot for each choice:
    text waits until it is taken, a snapshot only until the next one.
    """

    def __init__(self) -> None:
        self._events: list[ChoiceEvent] = []
        self._changed = asyncio.Event()
        self._error: BaseException | None = None
        self.ended = False

    def put(self, index: int, event: StepEvent | CommitEvent | Answered) -> None:
        """Add an event of a choice."""
        if isinstance(event, StepEvent):
            self._events = [
                kept for kept in self._events if kept.index != index or not isinstance(kept.event, StepEvent)
            ]
        self._events.append(ChoiceEvent(index=index, event=event))
        self._changed.set()

    def end(self, error: BaseException | None) -> None:
        """Say that nothing more comes, and what went wrong if anything did."""
        self._error = error
        self.ended = True
        self._changed.set()

    async def wait(self, longest_s: float) -> bool:
        """Wait until there are events or the end of them; return whether there are."""
        try:
            async with asyncio.timeout(longest_s):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True

    def take(self) -> list[ChoiceEvent]:
        """Return the events that wait, in their order, and forget them."""
        events, self._events = self._events, []
        if not self.ended:
            self._changed.clear()
        return events

    def check(self) -> None:
        """Raise what went wrong, if anything did."""
        if self._error is not None:
            raise self._error
