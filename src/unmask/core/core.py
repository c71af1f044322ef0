"""One tick: schedule, run, update."""

import logging
from collections.abc import Sequence as Items
from dataclasses import replace
from itertools import count
from typing import Protocol

from unmask.clock import Clock
from unmask.core.load import CoreLoad
from unmask.errors import ContextLengthError, InvalidRequestError, QueueFullError
from unmask.plan import PlanRunner, RowFailure, RowResult
from unmask.sched.admission import pages_needed
from unmask.sched.batcher import Batcher, Changes
from unmask.sequence import Sequence, Submission
from unmask.types import ExitReason, Mode, Outcome

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
    """Runs submissions; every method belongs to one thread, save `stalled_s`, which like ``load`` is for all."""

    def __init__(self, engine: PlanRunner, batcher: Batcher, clock: Clock) -> None:
        self.engine = engine
        self.batcher = batcher
        self._clock = clock
        self._ids = count(1)
        self._open: dict[int, tuple[Sequence, Listener]] = {}
        self.load = CoreLoad(at=clock.now())

    def submit(self, submission: Submission, listener: Listener) -> int:
        """Queue a submission and return its id.

        Raises:
            InvalidRequestError: it has no prompt.
            ContextLengthError: it could never fit into the page pool.
            QueueFullError: too many wait already.
        """
        self._refuse_impossible(submission)
        if self.batcher.waiting.is_full:
            raise QueueFullError(f"{len(self.batcher.waiting)} requests wait already; try again later")
        now = self._clock.now()
        sequence = Sequence(
            id=next(self._ids),
            submission=submission,
            arrived=now if submission.arrived is None else min(submission.arrived, now),
            text=submission.begun.text,
            unfinished=submission.begun.unfinished,
        )
        self._open[sequence.id] = sequence, listener
        self.batcher.waiting.push(sequence)
        self.load = replace(self.load, at=now, waiting=len(self.batcher.waiting))
        return sequence.id

    def abort(self, sequence_id: int) -> None:
        """Ask for an end; takes effect at the next tick. An ended or unknown id is left alone."""
        if sequence_id in self._open:
            sequence, _ = self._open[sequence_id]
            sequence.abort_requested = True

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do."""
        return self.batcher.is_idle

    @property
    def stalled_s(self) -> float:
        """Seconds since the last tick ended or work arrived, while there is work; else 0."""
        load = self.load
        return self._clock.now() - load.at if load.has_work else 0.0

    def tick(self) -> None:
        """Schedule, run, update; tell the listeners."""
        began = self._clock.now()
        changes = Changes()
        plan = self.batcher.schedule(changes)
        if plan.rows:
            try:
                results = self.engine.run(plan)
                _log_failures(results)
                self.batcher.update(plan, results, changes)
            except Exception as error:  # one bad forward must not end the thread that serves everyone else
                logger.exception("a forward of %d rows failed", len(plan.rows))
                self.batcher.fail(plan, f"{type(error).__name__}: {error}", changes)
        # Before anyone is told: who has its answer finds its place and pages given back.
        self._publish(began, steps=len(changes.stepped))
        self._tell(changes)

    def fail_all(self, error: str) -> None:
        """End everything that waits or runs: there will be no further tick."""
        # Scheduler and pool stay as they are; nobody waits for them any more.
        self.load = replace(self.load, at=self._clock.now(), running=0, waiting=0, pages_used=0)
        for sequence, listener in self._open.values():
            if sequence.outcome is None:
                sequence.outcome = Outcome.FAILED
                sequence.exit_reason = ExitReason.FAILED
                sequence.error = error
                sequence.finished = self._clock.now()
            try:
                listener.ended(sequence)
            except Exception:  # whoever cannot be told must not keep the others waiting
                logger.exception("a listener failed")
        self._open.clear()

    def _publish(self, began: float, *, steps: int) -> None:
        now = self._clock.now()
        self.load = CoreLoad(
            at=now,
            running=len(self.batcher.running),
            waiting=len(self.batcher.waiting),
            pages_used=self.batcher.pool.used,
            steps=self.load.steps + steps,
            ticks=self.load.ticks + 1,
            busy_s=self.load.busy_s + now - began,
        )

    def _tell(self, changes: Changes) -> None:
        for sequence in changes.stepped:
            if sequence.submission.snapshots:
                self._listener(sequence).stepped(sequence)
        for sequence in changes.grown:
            self._listener(sequence).grown(sequence)
        for sequence in changes.ended:
            _, listener = self._open.pop(sequence.id)
            listener.ended(sequence)

    def _listener(self, sequence: Sequence) -> Listener:
        _, listener = self._open[sequence.id]
        return listener

    def _refuse_impossible(self, submission: Submission) -> None:
        if not submission.prompt:
            raise InvalidRequestError("messages", "no tokens", "at least one token", "Send some text.")
        settings = self.batcher.settings
        if pages_needed(submission, settings.page_size) > settings.pages:
            prompt, room = len(submission.prompt), settings.pages * settings.page_size
            # A canvas takes its whole length whether or not all of it may become output.
            length = 1 if submission.mode is Mode.AUTOREGRESSIVE else submission.canvas_length
            fitting = prompt + max(0, room - prompt) // length * length
            raise ContextLengthError(prompt, submission.max_tokens, min(fitting, room))


def _log_failures(results: Items[RowResult]) -> None:
    for result in results:
        if isinstance(result, RowFailure):
            logger.error("a row failed and ends its request: %s", result.error)
