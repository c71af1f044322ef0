"""Continuous batching at step granularity: who runs in the next tick, and what became of the last."""

from collections.abc import Sequence as Items
from dataclasses import dataclass, field

from unmask.clock import Clock
from unmask.plan import CanvasResult, Plan, Row, RowFailure, RowResult
from unmask.sched.admission import admit
from unmask.sched.ending import TokenBytes, Writer
from unmask.sched.exits import with_exit
from unmask.sched.lockstep import Lockstep
from unmask.sched.pages import PagePool
from unmask.sched.prefix import PrefixCache
from unmask.sched.progress import apply_append, apply_result
from unmask.sched.queue import WaitingQueue
from unmask.sched.rows import make_row
from unmask.sched.settings import SchedSettings
from unmask.sequence import Sequence
from unmask.types import ExitReason, Outcome


@dataclass(slots=True, kw_only=True)
class Changes:
    """What a tick did: sequences that took a step, whose output grew, and that ended."""

    stepped: list[Sequence] = field(default_factory=list)
    grown: list[Sequence] = field(default_factory=list)
    ended: list[Sequence] = field(default_factory=list)


class Batcher:
    """Owns waiting and running sequences and their pages."""

    def __init__(
        self,
        settings: SchedSettings,
        *,
        mask: int,
        end: int,
        token_bytes: TokenBytes,
        clock: Clock,
        queue_limit: int = 10_000,
    ) -> None:
        self.settings = settings
        self.pool = PagePool(settings.pages)
        self.waiting = WaitingQueue(queue_limit)
        self.running: dict[int, Sequence] = {}
        # Rows that lockstep computes for nothing write over pages whose sequence may have ended.
        shared = settings.prefix_cache and not settings.lockstep
        self._cache = PrefixCache(self.pool, settings.page_size, enabled=shared)
        self._lockstep = Lockstep() if settings.lockstep else None
        self._mask = mask
        self._writer = Writer(end=end, token_bytes=token_bytes)
        self._clock = clock

    @property
    def is_idle(self) -> bool:
        """Whether nothing runs and nothing waits."""
        return not self.running and not len(self.waiting)

    def schedule(self, changes: Changes) -> Plan:
        """Drop aborted sequences, admit waiting ones, and return the rows of the next forward."""
        self._drop_aborted(changes)
        self._admit()
        left = self.settings.prefill_tokens
        rows: list[Row] = []
        for sequence in self._due():
            row = make_row(sequence, self.settings, left, self._mask)
            if row is not None:
                rows.append(row)
                left -= len(row.append) if not sequence.output else 0
        return Plan(rows=tuple(rows), idle=() if self._lockstep is None else self._lockstep.idle_rows(rows))

    def update(self, plan: Plan, results: Items[RowResult], changes: Changes) -> None:
        """Write the results of a forward into its sequences and let go of those that ended."""
        settled = [self._settled(row, result) for row, result in zip(plan.rows, results, strict=True)]
        if self._lockstep is not None:
            self._lockstep.observe(plan.rows, settled)
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
        """Stop a canvas where its exit rule is met."""
        if not isinstance(result, CanvasResult) or result.progress is None:
            return result
        return with_exit(self.running[row.sequence], result, self._writer)

    def _due(self) -> list[Sequence]:
        """Return the sequences that get a row: all that run, unless they run in lockstep."""
        running = self.running.values()
        return list(running) if self._lockstep is None else self._lockstep.due(running)

    def _drop_aborted(self, changes: Changes) -> None:
        for sequence in self.waiting.remove_aborted():
            self._abort(sequence, changes)
        for sequence in [sequence for sequence in self.running.values() if sequence.abort_requested]:
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
        if self._lockstep is not None:
            if self.running:
                return
            self._lockstep.start_batch()
        while len(self.running) < self.settings.max_rows and (sequence := self.waiting.front()) is not None:
            if not admit(sequence, self.pool, self._cache, self.settings.page_size, self._clock.now()):
                return
            self.running[self.waiting.pop().id] = sequence

    def _let_go(self, sequence: Sequence, changes: Changes) -> None:
        """Return the pages of a sequence that has its outcome."""
        self.pool.release(sequence.pages)
        sequence.pages = []
        sequence.canvas = None
        sequence.finished = self._clock.now()
        self.running.pop(sequence.id, None)
        changes.ended.append(sequence)
