"""The asyncio front of the engine thread: submit, abort, drain."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from unmask.core.core import Core
from unmask.core.errors import EngineStoppedError
from unmask.core.load import CoreLoad
from unmask.core.prefixes import PrefixStore
from unmask.core.thread import Command, EngineThread
from unmask.draining import Drain
from unmask.sequence import OutputToken, Sequence, Submission
from unmask.types import StepTrace

Found = TypeVar("Found")

LEFT_S = 5.0
"""Longest wait for the engine to say what an aborted sequence took; a tick is much shorter."""


class Kind(StrEnum):
    """What happened to a sequence."""

    STEPPED = "stepped"
    GROWN = "grown"
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A happening, with what it needs copied out of the sequence.

    ``text`` is the output's text so far, ``logprobs`` are those of tokens that
    joined it since the notice before; ``sequence`` is set once ended, when the
    engine thread no longer touches it.
    """

    kind: Kind
    text: str
    logprobs: tuple[OutputToken, ...] = ()
    entry: StepTrace | None = None
    sequence: Sequence | None = None


class _Relay:
    """Carries notices from the engine thread into an event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.notices: asyncio.Queue[Notice | Exception] = asyncio.Queue()
        self._loop = loop
        self._sent = 0

    def stepped(self, sequence: Sequence) -> None:
        self._happened(Kind.STEPPED, sequence, entry=sequence.last_step)

    def grown(self, sequence: Sequence) -> None:
        self._happened(Kind.GROWN, sequence)

    def ended(self, sequence: Sequence) -> None:
        self._happened(Kind.ENDED, sequence, ended=sequence)

    def refused(self, error: Exception) -> None:
        self._send(error)

    def _happened(
        self, kind: Kind, sequence: Sequence, *, entry: StepTrace | None = None, ended: Sequence | None = None
    ) -> None:
        # Of every kind, as text and log-probabilities belong together: a step that ends a canvas is told of first.
        logprobs = tuple(sequence.logprobs[self._sent :])
        self._sent += len(logprobs)
        self._send(Notice(kind=kind, text=sequence.text, logprobs=logprobs, entry=entry, sequence=ended))

    def _send(self, notice: Notice | Exception) -> None:
        # A loop that was closed meanwhile has nobody left to tell.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self.notices.put_nowait, notice)


class Front:
    """Submits to the engine thread and awaits its notices; belongs to one event loop at a time."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._thread = EngineThread(core)
        self._thread.start()
        self._drain = Drain()

    @property
    def is_alive(self) -> bool:
        """Whether the engine thread runs."""
        return self._thread.is_alive

    @property
    def load(self) -> CoreLoad:
        """What the engine thread has last said of itself; waits for nothing."""
        return self._core.load

    @property
    def stalled_s(self) -> float:
        """Seconds for which the engine thread has had work and finished no tick."""
        return self._core.stalled_s

    async def run(
        self, submission: Submission, left: Callable[[Sequence], None] | None = None
    ) -> AsyncGenerator[Notice, None]:
        """Yield notices until the sequence has ended; closing the iterator aborts it within one tick.

        Args:
            submission: what to run.
            left: told the aborted sequence once it has ended; closing the iterator waits for that.

        Raises:
            DrainingError: nothing new is taken.
            EngineStoppedError: the engine thread has ended.
            ContextLengthError: the request could never fit.
            QueueFullError: too many wait.
        """
        with self._drain.opened():
            relay = _Relay(asyncio.get_running_loop())
            ids: list[int] = []
            self._thread.post(_submit(self._core.arriving(submission), relay, ids))
            ended = False
            try:
                while not ended:
                    notice = await relay.notices.get()
                    ended = isinstance(notice, Exception) or notice.kind is Kind.ENDED
                    if isinstance(notice, Exception):
                        raise notice
                    yield notice
            finally:
                if not ended:
                    with suppress(EngineStoppedError):
                        self._thread.post(_abort(ids))
                        if left is not None:
                            await _tell_end(relay, left)

    @property
    def prefixes(self) -> PrefixStore | None:
        """What reads and writes kept pages, `between_ticks`."""
        return self._core.prefixes

    async def between_ticks(self, work: Callable[[], Found]) -> Found:
        """Have the engine thread do what must not meet a tick, and return what it found.

        Raises:
            EngineStoppedError: the engine thread has ended.
        """
        future: Future[Found] = Future()
        self._thread.post(_doing(work, future))
        return await asyncio.wrap_future(future)

    async def drain(self) -> None:
        """Take nothing new, let everything open end, stop the thread."""
        await self._drain.run()
        await asyncio.to_thread(self._thread.stop)


async def _tell_end(relay: _Relay, left: Callable[[Sequence], None]) -> None:
    """Wait for the end of a sequence that was aborted; one that was refused, or an engine that is stuck, has none."""
    with suppress(TimeoutError):
        async with asyncio.timeout(LEFT_S):
            while not isinstance(notice := await relay.notices.get(), Exception):
                if notice.sequence is not None:
                    left(notice.sequence)
                    return


def _doing(work: Callable[[], Found], future: "Future[Found]") -> Command:
    def command(_core: Core) -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(work())
        except Exception as error:  # noqa: BLE001 - belongs to whoever asked, not to the engine thread
            future.set_exception(error)

    return command


def _submit(submission: Submission, relay: _Relay, ids: list[int]) -> Command:
    def command(core: Core) -> None:
        try:
            ids.append(core.submit(submission, relay))
        except Exception as error:  # noqa: BLE001 - a refusal belongs to whoever asked, not to the engine thread
            relay.refused(error)

    return command


def _abort(ids: list[int]) -> Command:
    """Abort what `_submit` has put into ``ids`` by then: nothing, where it was refused."""

    def command(core: Core) -> None:
        for sequence_id in ids:
            core.abort(sequence_id)

    return command
