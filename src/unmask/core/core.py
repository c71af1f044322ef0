"""One tick: schedule, run, update."""

import logging
from collections.abc import Iterator
from collections.abc import Sequence as Items
from dataclasses import replace
from itertools import count
from typing import Protocol

from unmask.clock import Clock
from unmask.core.load import CoreLoad
from unmask.core.prefixes import PrefixStore
from unmask.errors import ContextLengthError, DeadlineError, InvalidRequestError, QueueFullError
from unmask.plan import PlanRunner, RowFailure, RowResult
from unmask.sched.admission import pages_needed
from unmask.sched.batcher import Batcher, Changes
from unmask.sched.watermark import alert_at, is_worse
from unmask.sequence import Sequence, Submission
from unmask.service import QueueLoad
from unmask.types import ExitReason, Outcome, StepBudget
from unmask.work import EngineWork, PageAlert

logger = logging.getLogger(__name__)

ALERT_EVERY_S = 60.0
"""Seconds between two lines of the log that pages run out."""
LONGEST_NAP_S = 1.0
MANY_LINES = 64
QUEUES_EVERY_S = 0.1
"""Where more than so many tenants wait, queues are looked through once in so many seconds and not every tick."""


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
    """Runs submissions; all belongs to one thread, save `stalled_s` and `arriving`, which like ``load`` are for all.

    ``prefixes`` reads and writes kept pages; there is nothing to do so where committed KV is not exact.
    """

    def __init__(self, engine: PlanRunner, batcher: Batcher, clock: Clock, prefixes: PrefixStore | None = None) -> None:
        self.engine = engine
        self.batcher = batcher
        self.prefixes = prefixes
        self._clock = clock
        self._ids = count(1)
        self._open: dict[int, tuple[Sequence, Listener]] = {}
        self._looked = clock.now()
        self._work = EngineWork()
        self._alerted: float | None = None
        self.load = CoreLoad(at=clock.now())

    def submit(self, submission: Submission, listener: Listener) -> int:
        """Queue a submission and return its id.

        Raises:
            InvalidRequestError: it has no prompt.
            ContextLengthError: it could never fit into the pages that its class may have.
            QueueFullError: too many of its class wait already.
            DeadlineError: it would be answered too late, with every budget that it may have.
        """
        self._refuse_impossible(submission)
        now = self._clock.now()
        waiting = self.batcher.waiting.waiting(submission.terms.name)
        if self.batcher.waiting.is_full(submission.terms.name):
            raise QueueFullError(f"{waiting} requests wait already; try again later")
        submission = self._in_time(submission, now)
        sequence = Sequence(
            id=next(self._ids),
            submission=submission,
            arrived=now if submission.arrived is None else min(submission.arrived, now),
            text=submission.begun.text,
            unfinished=submission.begun.unfinished,
        )
        self._open[sequence.id] = sequence, listener
        self.batcher.add(sequence)
        self.load = replace(
            self.load,
            at=now,
            waiting=len(self.batcher.waiting),
            queues=self._queues(now),
            works=self.batcher.forecast.works(self.batcher.accounts),
        )
        return sequence.id

    def abort(self, sequence_id: int) -> None:
        """Ask for an end; takes effect at the next tick. An ended or unknown id is left alone."""
        if sequence_id in self._open:
            sequence, _ = self._open[sequence_id]
            self.batcher.abort(sequence)

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do."""
        return self.batcher.is_idle

    def arriving(self, submission: Submission) -> Submission:
        """Return a submission that arrives now: the rest of the tick that runs is a part of its wait."""
        return submission if submission.arrived is not None else replace(submission, arrived=self._clock.now())

    @property
    def stalled_s(self) -> float:
        """Seconds since the last tick ended or work arrived, while there is work; else 0."""
        load = self.load
        return self._clock.now() - load.at if load.has_work else 0.0

    @property
    def nap_s(self) -> float:
        """Seconds for which nothing need be done unless somebody arrives: an idle engine waits for a batch to fill."""
        until = self.batcher.held_until
        return 0.0 if until is None else min(max(until - self._clock.now(), 0.0), LONGEST_NAP_S)

    def tick(self) -> None:
        """Schedule, run, update; tell the listeners."""
        began = self._clock.now()
        changes = Changes()
        plan = self.batcher.schedule(changes)
        if plan.rows:
            started = self._clock.now()
            try:
                results = self.engine.run(plan)
                _log_failures(results)
                self.batcher.update(plan, results, changes)
                tokens = sum(row.tokens for row in plan.rows)
                took = self._clock.now() - started
                self.batcher.forecast.ticked(len(plan.rows), tokens, took)
                self._work = self._work.after(len(plan.rows), tokens, took)
            except Exception as error:  # one bad forward must not end the thread that serves everyone else
                logger.exception("a forward of %d rows failed", len(plan.rows))
                self.batcher.fail(plan, f"{type(error).__name__}: {error}", changes)
        # Before anyone is told: who has its answer finds its place and pages given back.
        self._publish(began, steps=len(changes.stepped))
        self._tell(changes)

    def fail_all(self, error: str) -> None:
        """End everything that waits or runs: there will be no further tick."""
        # Scheduler and pool stay as they are; nobody waits for them any more.
        self.load = replace(self.load, at=self._clock.now(), running=0, waiting=0, pages_used=0, queues=(), works=())
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
        alert = self._alert(now)
        self.load = CoreLoad(
            at=now,
            running=len(self.batcher.running),
            waiting=len(self.batcher.waiting),
            pages_used=self.batcher.pool.used,
            steps=self.load.steps + steps,
            ticks=self.load.ticks + 1,
            busy_s=self.load.busy_s + now - began,
            queues=self._queues(now),
            work=self._work,
            useful_tokens=self.batcher.made.useful_tokens,
            growth=self.batcher.made.growth,
            works=self.batcher.forecast.works(self.batcher.accounts),
            service_p95_s=self.batcher.times.p95,
            page_alert=alert,
            page_alerts=self.load.page_alerts + is_worse(alert, self.load.page_alert),
            holds=self.batcher.hold.holds,
        )

    def _alert(self, now: float) -> PageAlert:
        """Return the alert on pages, and log one that is worse than before, not too often."""
        pool = self.batcher.pool
        alert = alert_at(pool.used / pool.count, self.load.page_alert)
        is_due = self._alerted is None or now - self._alerted >= ALERT_EVERY_S
        if is_due and is_worse(alert, self.load.page_alert):
            self._alerted = now
            logger.warning(
                "KV pages run out (%s): %d of %d in use; requests that find none wait", alert, pool.used, pool.count
            )
        return alert

    def _queues(self, now: float) -> tuple[QueueLoad, ...]:
        if self.batcher.waiting.lines <= MANY_LINES or now - self._looked >= QUEUES_EVERY_S:
            self._looked = now
            return self.batcher.queues()
        return self.load.queues

    def _in_time(self, submission: Submission, now: float) -> Submission:
        """Return a submission with the largest budget that is answered within its class's deadline."""
        deadline = submission.terms.deadline_s
        if deadline is None:
            return submission
        left = deadline - (now - (now if submission.arrived is None else submission.arrived))
        seconds = 0.0
        for possible in (submission, *smaller_ones(submission)):
            predicted = self.batcher.forecast.seconds(possible, self.batcher.accounts)
            if predicted is None or predicted <= left:
                return possible
            seconds = predicted
        raise DeadlineError(
            f"the request would be answered in about {seconds:.1f} s, and {submission.terms.name or 'its'} requests "
            f"have {left:.1f} s; try again later, or choose another service class",
            retry_after_s=seconds - left,
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
        pages = settings.most_pages(submission.terms.name)
        if pages_needed(submission, settings.page_size) > pages:
            prompt, room = len(submission.prompt), pages * settings.page_size
            # A canvas takes its whole length whether or not all of it may become output.
            length = 1 if submission.mode.is_causal else submission.canvas_length
            fitting = prompt + max(0, room - prompt) // length * length
            raise ContextLengthError(prompt, submission.max_tokens, min(fitting, room))


def smaller_ones(submission: Submission) -> Iterator[Submission]:
    """Yield a submission with each of the smaller budgets that it may have, largest first."""
    total = submission.budget.max_total_steps
    assert total is not None, "a submission carries a total"
    for entry in submission.smaller:
        steps = min(entry.max_steps, submission.budget.max_steps)
        budget = StepBudget(max_steps=steps, max_total_steps=min(total, steps * submission.max_canvases))
        yield replace(submission, budget=budget, bucket=entry.bucket, smaller=())


def _log_failures(results: Items[RowResult]) -> None:
    for result in results:
        if isinstance(result, RowFailure):
            logger.error("a row failed and ends its request: %s", result.error)
