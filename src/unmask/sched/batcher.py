"""Who runs in the next tick, and what became of the last."""

from collections.abc import Sequence as Items
from dataclasses import dataclass, field
from typing import assert_never

from unmask.clock import Clock
from unmask.plan import CanvasResult, Plan, Row, RowFailure, RowResult
from unmask.sched.accounts import Accounts
from unmask.sched.admission import admit, fill_step, room_for
from unmask.sched.aligned import batch_of, stage_due
from unmask.sched.ending import TokenBytes, Writer
from unmask.sched.exits import with_exit
from unmask.sched.forecast import Forecast
from unmask.sched.holding import Hold
from unmask.sched.made import Made
from unmask.sched.pages import PagePool
from unmask.sched.prefix import PrefixCache
from unmask.sched.progress import apply_append, apply_result
from unmask.sched.queue import WaitingQueue
from unmask.sched.rows import make_row
from unmask.sched.service_times import ServiceTimes
from unmask.sched.settings import SchedSettings
from unmask.sched.stopping import with_stop
from unmask.sched.turn import turn_of
from unmask.sequence import Sequence
from unmask.service import Batching, QueueLoad
from unmask.types import ExitReason, Outcome


@dataclass(slots=True, kw_only=True)
class Changes:
    """What a tick did: sequences that took a step, whose output grew, and that ended."""

    stepped: list[Sequence] = field(default_factory=list)
    grown: list[Sequence] = field(default_factory=list)
    ended: list[Sequence] = field(default_factory=list)


class Batcher:
    """Owns waiting and running sequences and their pages.

    Attributes:
        held_until: when those who wait begin, where an idle engine waits for others to join them.
    """

    def __init__(
        self,
        settings: SchedSettings,
        *,
        mask: int,
        end: int,
        other_ends: tuple[int, ...] = (),
        token_bytes: TokenBytes,
        clock: Clock,
        queue_limit: int = 10_000,
    ) -> None:
        self.settings = settings
        self.pool = PagePool(settings.pages)
        self.accounts = Accounts()
        self.forecast = Forecast(settings)
        self.hold = Hold(settings, self.forecast)
        self.held_until: float | None = None
        self.made = Made()
        self.times = ServiceTimes()
        self.waiting = WaitingQueue(queue_limit, settings.patience_s)
        self.running: dict[int, Sequence] = {}
        self._aborting: list[Sequence] = []
        self._cache = PrefixCache(self.pool, settings.page_size, enabled=settings.prefix_cache)
        self._mask = mask
        self._writer = Writer(end=end, token_bytes=token_bytes, other_ends=frozenset(other_ends))
        self._clock = clock

    @property
    def is_idle(self) -> bool:
        """Whether nothing runs and nothing waits."""
        return not self.running and not len(self.waiting)

    def add(self, sequence: Sequence) -> None:
        """Let a sequence wait for its turn."""
        self.accounts.arrive(sequence)
        self.waiting.push(sequence)
        self.hold.arrived(sequence.submission.bucket, sequence.arrived)

    def abort(self, sequence: Sequence) -> None:
        """Ask for the end of a sequence; the next tick lets go of it."""
        if not sequence.abort_requested:
            sequence.abort_requested = True
            self._aborting.append(sequence)

    def queues(self) -> tuple[QueueLoad, ...]:
        """Return what waits, by class and bucket."""
        return self.waiting.loads(self._clock.now(), self.accounts)

    def schedule(self, changes: Changes) -> Plan:
        """Drop aborted sequences, admit waiting ones, and return the rows of the next forward."""
        self._drop_aborted(changes)
        self._admit()
        left = self.settings.prefill_tokens
        rows: list[Row] = []
        tokens = 0
        for sequence in self._due():
            row = make_row(sequence, self.settings, left, self._mask)
            if row is not None:
                rows.append(row)
                left -= len(row.append) if not sequence.output else 0
                tokens += row.tokens
                self.accounts.charge(sequence, row.tokens)
        self.accounts.accrue(tokens)
        return Plan(rows=tuple(rows))

    def update(self, plan: Plan, results: Items[RowResult], changes: Changes) -> None:
        """Write the results of a forward into its sequences and let go of those that ended."""
        settled = [self._settled(row, result) for row, result in zip(plan.rows, results, strict=True)]
        for row, result in zip(plan.rows, settled, strict=True):
            sequence = self.running[row.sequence]
            if isinstance(result, RowFailure):
                # Whatever went wrong may lie in the keys and values of its pages, which nobody else is to build upon.
                self._cache.forget(sequence)
                self._fail(sequence, result.error, changes)
                continue
            apply_append(sequence, row)
            if apply_result(sequence, result, self._writer):
                changes.grown.append(sequence)
            if result is not None:
                changes.stepped.append(sequence)
            self._cache.register(sequence)
            if sequence.outcome is not None:
                self._let_go(sequence, changes)

    def fail(self, plan: Plan, error: str, changes: Changes) -> None:
        """End every sequence of a plan that failed and has not ended; others are not touched."""
        for row in plan.rows:
            sequence = self.running.get(row.sequence)
            if sequence is not None:
                self._fail(sequence, error, changes)

    def _settled(self, row: Row, result: RowResult) -> RowResult:
        """Stop a canvas where its exit rule is met, and an answer where it is complete."""
        if not isinstance(result, CanvasResult):
            return result
        sequence = self.running[row.sequence]
        if result.progress is not None:
            result = with_exit(sequence, result, self._writer)
        return with_stop(sequence, result, self._writer, self._mask)

    def _due(self) -> list[Sequence]:
        """Return the sequences that may get a row."""
        running = self.running.values()
        match self.settings.batching:
            case Batching.STEP:
                return turn_of(running, self.accounts, self.settings)
            case Batching.ALIGNED:
                return stage_due(running)
            case _:
                assert_never(self.settings.batching)

    def _drop_aborted(self, changes: Changes) -> None:
        asked, self._aborting = self._aborting, []
        self.waiting.remove(sequence for sequence in asked if sequence.started is None)
        for sequence in asked:
            if sequence.outcome is None:
                self._abort(sequence, changes)

    def _abort(self, sequence: Sequence, changes: Changes) -> None:
        sequence.outcome = Outcome.ABORTED
        sequence.exit_reason = ExitReason.ABORTED
        self._let_go(sequence, changes)

    def _fail(self, sequence: Sequence, error: str, changes: Changes) -> None:
        sequence.outcome = Outcome.FAILED
        sequence.exit_reason = ExitReason.FAILED
        sequence.error = error
        self._let_go(sequence, changes)

    def _admit(self) -> None:
        self.held_until = self.hold.until(self.waiting, self._clock.now(), is_idle=not self.running)
        if self.held_until is not None:
            return
        match self.settings.batching:
            case Batching.STEP:
                fill_step(self.waiting, self.accounts, self.settings, self._start)
            case Batching.ALIGNED:
                if self.running:
                    return
                rows, now = self.settings.max_rows, self._clock.now()
                overdue = now - self.settings.fill_wait_s
                for sequence in batch_of(self.waiting, self.accounts, rows=rows, overdue=overdue):
                    if not self._start(sequence, None) or len(self.running) >= rows:
                        return
            case _:
                assert_never(self.settings.batching)

    def _start(self, sequence: Sequence, own: int | None) -> bool:
        """Give a waiting sequence its pages, of ``own`` or of all that its class may have, and let it run."""
        account, size, now = self.accounts.of(sequence), self.settings.page_size, self._clock.now()
        room = room_for(account, self.accounts, self.settings, self.pool.available)
        if not admit(sequence, self.pool, self._cache, size, now, room=room if own is None else min(room, own)):
            return False
        self.waiting.take(sequence, now)
        self.accounts.begin(sequence)
        self.running[sequence.id] = sequence
        return True

    def _let_go(self, sequence: Sequence, changes: Changes) -> None:
        """Return the pages of a sequence that has its outcome."""
        owed, now = sequence.owed, self._clock.now()
        self.accounts.leave(sequence, pages=len(sequence.pages))
        if sequence.outcome is Outcome.COMPLETED:
            self.forecast.ended(sequence, owed)
            self.made.ended(sequence)
            self.times.add(now - (now if sequence.started is None else sequence.started))
        self.pool.release(sequence.pages)
        sequence.pages = []
        sequence.canvas = None
        sequence.finished = now
        self.running.pop(sequence.id, None)
        changes.ended.append(sequence)
