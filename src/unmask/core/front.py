"""The asyncio front of the engine thread: submit, abort, drain."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from enum import StrEnum

from unmask.core.core import Core
from unmask.core.thread import EngineThread
from unmask.errors import DrainingError
from unmask.sequence import Sequence, Submission, TraceEntry


class Kind(StrEnum):
    """What happened to a sequence."""

    STEPPED = "stepped"
    GROWN = "grown"
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A happening, with what it needs copied out of the sequence.

    ``text`` is the output's text so far; ``sequence`` is set once ended, when
    the engine thread no longer touches it.
    """

    kind: Kind
    text: str
    entry: TraceEntry | None = None
    sequence: Sequence | None = None


class _Relay:
    """Carries notices from the engine thread into an event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.notices: asyncio.Queue[Notice | Exception] = asyncio.Queue()
        self._loop = loop

    def stepped(self, sequence: Sequence) -> None:
        self._send(Notice(kind=Kind.STEPPED, text=sequence.text, entry=sequence.last_step))

    def grown(self, sequence: Sequence) -> None:
        self._send(Notice(kind=Kind.GROWN, text=sequence.text))

    def ended(self, sequence: Sequence) -> None:
        self._send(Notice(kind=Kind.ENDED, text=sequence.text, sequence=sequence))

    def refused(self, error: Exception) -> None:
        self._send(error)

    def _send(self, notice: Notice | Exception) -> None:
        # A loop that was closed meanwhile has nobody left to tell.
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.notices.put_nowait, notice)


class Front:
    """Submits to the engine thread and awaits its notices; belongs to one event loop at a time."""

    def __init__(self, core: Core) -> None:
        self._thread = EngineThread(core)
        self._thread.start()
        self._draining = False
        self._open = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def is_alive(self) -> bool:
        """Whether the engine thread runs."""
        return self._thread.is_alive

    async def run(self, submission: Submission) -> AsyncIterator[Notice]:
        """Yield notices until the sequence has ended; closing the iterator aborts it within one tick.

        Raises:
            DrainingError: nothing new is taken.
            ContextLengthError: the request could never fit.
            QueueFullError: too many wait.
        """
        if self._draining:
            raise DrainingError("the server is shutting down; send the request to another one")
        relay = _Relay(asyncio.get_running_loop())
        ids: list[int] = []
        self._open += 1
        self._idle.clear()
        self._thread.post(_submit(submission, relay, ids))
        ended = False
        try:
            while not ended:
                notice = await relay.notices.get()
                if isinstance(notice, Exception):
                    ended = True
                    raise notice
                ended = notice.kind is Kind.ENDED
                yield notice
        finally:
            if not ended:
                self._thread.post(lambda core: core.abort(ids[0]) if ids else None)
            self._open -= 1
            if self._open == 0:
                self._idle.set()

    async def drain(self) -> None:
        """Take nothing new, let everything open end, stop the thread."""
        self._draining = True
        await self._idle.wait()
        await asyncio.to_thread(self._thread.stop)

    async def abort_all(self) -> None:
        """Abort everything open."""
        self._thread.post(Core.abort_all)


def _submit(submission: Submission, relay: _Relay, ids: list[int]) -> Callable[[Core], None]:
    def command(core: Core) -> None:
        try:
            ids.append(core.submit(submission, relay))
        except Exception as error:  # refusals belong to whoever asked, not to the engine thread
            relay.refused(error)

    return command
