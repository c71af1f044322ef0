"""Keeps records while requests are served: off the event loop, and never at a request's cost."""

import logging
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from unmask.control.records import ControlRecord, FailureRecord, RecordFolder

MOST_WAITING = 1_000
"""Records that may wait to be written; more are lost."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What became of something that ended: its record, if there was one to keep, and whether it is lost."""

    record: ControlRecord | FailureRecord | None
    is_lost: bool = False


MakeRecord = Callable[[], ControlRecord | FailureRecord | None]
"""Judges what ended and makes its record, if it is one to keep; called off the event loop."""


class RecordBook:
    """Writes records one after the other in a thread of its own, and knows how many controls there are.

    What cannot be written is lost, counted, and said once until something can be written again.
    """

    def __init__(self, folder: RecordFolder) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._waiting = 0
        self._failing = False
        self._seen = Counter[tuple[str, str]]()
        for record in folder.controls().records:
            self._seen[record.policy, record.task] += 1
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="unmask-records")

    def seen(self, policy: str, task: str) -> int:
        """Return how many controls of a task type there are under a policy."""
        with self._lock:
            return self._seen[policy, task]

    def keep(self, make: MakeRecord, tell: Callable[[Kept], None]) -> None:
        """Make a record and write it, later; ``tell`` is called with what became of it."""
        with self._lock:
            is_full = self._waiting >= MOST_WAITING
            self._waiting += not is_full
        if is_full:
            self._lost("more records wait than may")
            tell(Kept(record=None, is_lost=True))
        else:
            self._thread.submit(self._keep, make, tell)

    def close(self) -> None:
        """Write what waits, and stop."""
        self._thread.shutdown()

    def _keep(self, make: MakeRecord, tell: Callable[[Kept], None]) -> None:
        record, is_lost = None, True
        try:
            record = make()
            if record is not None:
                self._folder.add(record)
            is_lost = False
        except OSError as error:
            self._lost(str(error))
        except Exception:  # noqa: BLE001 - a lost record is no reason to stop keeping others
            _LOG.exception("a record could not be made and is lost")
        with self._lock:
            self._waiting -= 1
            if not is_lost and record is not None:
                self._failing = False
            if not is_lost and isinstance(record, ControlRecord):
                self._seen[record.policy, record.task] += 1
        tell(Kept(record=record, is_lost=is_lost))

    def _lost(self, reason: str) -> None:
        with self._lock:
            was_failing, self._failing = self._failing, True
        if not was_failing:
            _LOG.warning("records of control runs are lost, requests go on: %s", reason)
