"""What is known of refined prompts: requests that were answered both ways, and task types that lose by it."""

import logging
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import orjson
from pydantic import TypeAdapter, ValidationError

from unmask.control.journal import Journal
from unmask.stats.sequential import Watch, watch_rate

PAIRS = "pairs"
MOST_DROP = 0.01
"""Share of requests that may be answered worse, those answered better deducted."""
_UNBOUNDED = 1 << 62

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A request that was answered unrefined and refined: what its verifiers say of both.

    Attributes:
        time: when, in seconds since 1970.
        model_digest: of the weights that answered.
        version: of the refinement, see `unmask.refine.refine.VERSION`.
    """

    time: float
    model_digest: str
    version: int
    task: str
    passed: bool
    refined_passed: bool


_ADAPTER = TypeAdapter(Pair)


class Pairs:
    """Keeps pairs in a folder, and says for which task types refinement costs quality.

    After every pair the drop of the pass rate is tested by bets against "at most `MOST_DROP`", which may be looked at
    as often as one likes; see `unmask.stats.sequential`. What has failed that test stays so. No text is kept.
    """

    def __init__(self, folder: Path, version: int) -> None:
        self._journal = Journal(folder=folder, name=PAIRS, largest=_UNBOUNDED)
        self._version = version
        self._lock = threading.Lock()
        self._outcomes: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        self._suspended: dict[tuple[str, str], None] = {}
        for line in self._journal.lines():
            self._read(line)
        for group in self._outcomes:
            self._judge(group)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="unmask-pairs")

    def is_suspended(self, model_digest: str, task: str) -> bool:
        """Tell whether refinement is off for a task type of some weights, for it was seen to cost quality."""
        with self._lock:
            return (model_digest, task) in self._suspended

    def suspended(self) -> tuple[str, ...]:
        """Return the task types that this holds for, in the order it was found."""
        with self._lock:
            return tuple(dict.fromkeys(task for _, task in self._suspended))

    def keep(self, pair: Pair) -> None:
        """Write a pair and judge its task type, later; what cannot be written is judged all the same."""
        self._thread.submit(self._keep, pair)

    def watch(self, model_digest: str, task: str) -> Watch:
        """Return what the test has come to; its rate is that of an answer's being worse, a half where neither is."""
        with self._lock:
            outcomes = list(self._outcomes[model_digest, task])
        return watch_rate(outcomes, (1 + MOST_DROP) / 2)

    def close(self) -> None:
        """Write what waits, and stop."""
        self._thread.shutdown()

    def _keep(self, pair: Pair) -> None:
        try:
            self._journal.append(orjson.dumps(pair))
        except OSError as error:
            _LOG.warning("a pair of answers could not be written: %s", error)
        self._add(pair)
        self._judge((pair.model_digest, pair.task))

    def _read(self, line: bytes) -> None:
        try:
            self._add(_ADAPTER.validate_json(line))
        except ValidationError:
            _LOG.warning("a line of %s in %s is no pair of answers", PAIRS, self._journal.folder)

    def _add(self, pair: Pair) -> None:
        if pair.version == self._version:
            with self._lock:
                self._outcomes[pair.model_digest, pair.task].append((1 + pair.passed - pair.refined_passed) / 2)

    def _judge(self, group: tuple[str, str]) -> None:
        if not self.watch(*group).is_alarmed:
            return
        with self._lock:
            is_news = group not in self._suspended
            self._suspended[group] = None
        if is_news:
            _LOG.warning("prompts of task type %s are refined no more: answers have become worse", group[1])
