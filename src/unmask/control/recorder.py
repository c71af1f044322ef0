"""Keeps what generations tell of exits, and counts what was kept."""

from collections.abc import Callable
from functools import partial

from unmask.backend import Generation
from unmask.control.admitted import Admitted
from unmask.control.book import Kept, RecordBook
from unmask.control.ended import Ended
from unmask.control.records import ControlRecord
from unmask.metrics.control import ControlEnd, ControlInstruments, ControlVerdict


class ControlRecorder:
    """Makes records of control runs, and of answers that were stopped early and can be judged.

    Args:
        book: where they go; without one none is made.
        instruments: told of what was kept.
        now: seconds since 1970.
        new_id: names records.
    """

    def __init__(
        self,
        book: RecordBook | None,
        instruments: ControlInstruments,
        *,
        now: Callable[[], float],
        new_id: Callable[[], str],
    ) -> None:
        self._book = book
        self._instruments = instruments
        self._now = now
        self._new_id = new_id

    def keep(self, admitted: Admitted, generation: Generation, request_id: str) -> None:
        """Keep what a generation that completed says, if it says anything."""
        name, is_control = admitted.model.name, admitted.assignment.is_control
        if self._book is None or not (is_control or (generation.exit is not None and admitted.check is not None)):
            return
        ended = Ended(
            admitted=admitted, generation=generation, request_id=request_id, id=self._new_id(), time=self._now()
        )
        if is_control:
            self._book.keep(ended.control, partial(self._control_kept, name))
        else:
            self._book.keep(ended.failure, partial(self._failure_kept, name))

    def _control_kept(self, model: str, kept: Kept) -> None:
        record = kept.record
        extra = 0
        if isinstance(record, ControlRecord) and record.exit_steps is not None:
            extra = record.steps - record.exit_steps
        if isinstance(record, ControlRecord) and not kept.is_lost:
            self._instruments.control_judged(model, verdict_of(record))
        self._instruments.control_ended(model, ControlEnd.LOST if kept.is_lost else ControlEnd.RECORDED, extra)

    def _failure_kept(self, model: str, kept: Kept) -> None:
        if kept.record is not None:
            self._instruments.exit_failed(model)


def verdict_of(record: ControlRecord) -> ControlVerdict:
    """Return what a control run says of its exit."""
    if record.exit_steps is None:
        return ControlVerdict.UNMET
    match record.passed, record.exit_passed:
        case True, True:
            return ControlVerdict.BOTH_PASS
        case True, False:
            return ControlVerdict.MISJUDGED
        case False, True:
            return ControlVerdict.REVERSED
        case False, False:
            return ControlVerdict.BOTH_FAIL
        case _:
            return ControlVerdict.UNJUDGED
