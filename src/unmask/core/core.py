"""One tick: schedule, run, update."""

import logging
from itertools import count
from typing import Protocol

from unmask.clock import Clock
from unmask.engine.engine import Engine
from unmask.errors import ContextLengthError, InvalidRequestError, QueueFullError
from unmask.sched.admission import pages_needed
from unmask.sched.batcher import Batcher, Changes
from unmask.sequence import Sequence, Submission

logger = logging.getLogger(__name__)


class Listener(Protocol):
    """Hears of a sequence, on the thread that ticks; must return at once and never raise."""

    def stepped(self, sequence: Sequence) -> None:
        """Called after each step of a sequence that asked for snapshots."""
        ...

    def grown(self, sequence: Sequence) -> None:
        """Called when a canvas or token joined the output."""
        ...

    def ended(self, sequence: Sequence) -> None:
        """Called once, when the sequence has its outcome."""
        ...


class Core:
    """Runs submissions; every method belongs to one thread."""

    def __init__(self, engine: Engine, batcher: Batcher, clock: Clock) -> None:
        self.engine = engine
        self.batcher = batcher
        self._clock = clock
        self._ids = count(1)
        self._listeners: dict[int, Listener] = {}
        self._sequences: dict[int, Sequence] = {}

    def submit(self, submission: Submission, listener: Listener) -> int:
        """Queue a submission and return its id.

        Raises:
            ContextLengthError: it could never fit into the page pool.
            QueueFullError: too many wait already.
        """
        self._refuse_impossible(submission)
        if self.batcher.waiting.is_full:
            raise QueueFullError(f"{len(self.batcher.waiting)} requests wait already; try again later")
        sequence = Sequence(id=next(self._ids), submission=submission, arrived=self._clock.now())
        self._listeners[sequence.id] = listener
        self._sequences[sequence.id] = sequence
        self.batcher.waiting.push(sequence)
        return sequence.id

    def abort(self, sequence_id: int) -> None:
        """Ask for an end; takes effect at the next tick. An ended or unknown id is left alone."""
        sequence = self._sequences.get(sequence_id)
        if sequence is not None:
            sequence.abort_requested = True

    def abort_all(self) -> None:
        """Ask for an end of everything that waits or runs."""
        for sequence in self._sequences.values():
            sequence.abort_requested = True

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do."""
        return self.batcher.is_idle

    def tick(self) -> None:
        """Schedule, run, update; tell the listeners."""
        changes = Changes()
        plan = self.batcher.schedule(changes)
        if plan.rows:
            try:
                results = self.engine.run(plan)
            except Exception as error:  # one bad forward must not end the thread that serves everyone else
                logger.exception("a forward of %d rows failed", len(plan.rows))
                self.batcher.fail(plan, f"{type(error).__name__}: {error}", changes)
            else:
                self.batcher.update(plan, results, changes)
        self._tell(changes)

    def _tell(self, changes: Changes) -> None:
        for sequence in changes.stepped:
            if sequence.submission.snapshots:
                self._listeners[sequence.id].stepped(sequence)
        for sequence in changes.grown:
            self._listeners[sequence.id].grown(sequence)
        for sequence in changes.ended:
            del self._sequences[sequence.id]
            self._listeners.pop(sequence.id).ended(sequence)

    def _refuse_impossible(self, submission: Submission) -> None:
        settings = self.batcher.settings
        if pages_needed(submission, settings.page_size) > settings.pages:
            raise ContextLengthError(
                len(submission.prompt), submission.max_tokens, settings.pages * settings.page_size
            )
        if not submission.prompt:
            raise InvalidRequestError("messages", "no tokens", "at least one token", "Send some text.")
