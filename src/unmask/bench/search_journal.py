"""The journal of the search bench: every answer, by its item and the arm that has made it.

What fixes an answer beside weights, precision and seed is in the name of its arm: the plan, its threshold among it, and
a digest of the code that such an arm runs. So a bench after a change of one method runs that method's arms alone.
"""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib import import_module
from pathlib import Path

from unmask.bench.journal import Journal, open_journal
from unmask.bench.search_arms import SearchArm
from unmask.service import SearchMethod
from unmask.tasks.item import Item

FORMAT = "unmask.bench.search/1"
DIGEST_BYTES = 6
_BENCH = ("unmask.bench.search_asking", "unmask.bench.search_items")
_ALL = ("candidates", "purse", "requests", "running", "score")
_PATHS = ("legs", "path")
_OF_METHOD = {
    SearchMethod.CANDIDATES: ("drafts",),
    SearchMethod.BREADTH: ("breadth", *_PATHS),
    SearchMethod.DEPTH: ("depth", *_PATHS),
    SearchMethod.ROLLOVER: ("rollover", *_PATHS),
}
"""The modules of `unmask.search` that all arms run, and those of a method."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an item came to in an arm.

    Attributes:
        steps: denoise steps of everything that ran.
        seconds: that its generations were in a batch, one after the other.
        confidence: mean log-probability of the answer's tokens.
    """

    steps: int
    seconds: float
    correct: bool
    confidence: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOf:
    """What all answers of a journal share."""

    model_digest: str
    precision: str
    seed: int

    @property
    def file_name(self) -> str:
        """Its name in the folder."""
        return f"search-{self.model_digest}-{self.precision}-{self.seed}.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """An answer, with the digest of its item and the name of its arm."""

    item: str
    arm: str
    answer: Answer


class SearchJournal:
    """Answers by item and arm; a new one is appended in one write that outlives the process."""

    def __init__(self, journal: Journal[Kept]) -> None:
        self._journal = journal
        self._answers = {(kept.item, kept.arm): kept.answer for kept in journal.entries}

    def __len__(self) -> int:
        return len(self._answers)

    def answer(self, item: Item, arm: SearchArm) -> Answer | None:
        """Return what there is of an item in an arm."""
        return self._answers.get((item.digest, _named(arm)))

    def note(self, item: Item, arm: SearchArm, answer: Answer) -> None:
        """Keep an answer."""
        kept = Kept(item=item.digest, arm=_named(arm), answer=answer)
        self._journal.note(kept)
        self._answers[kept.item, kept.arm] = answer


@contextmanager
def open_search_journal(folder: Path, of: SearchOf) -> Iterator[SearchJournal]:
    """Open the journal of a folder, or begin it; see `unmask.bench.journal.open_journal`."""
    with open_journal(folder / of.file_name, of, Kept, FORMAT) as journal:
        yield SearchJournal(journal)


@cache
def _named(arm: SearchArm) -> str:
    """Return a name that no other plan and no other code of an arm has."""
    method = SearchMethod.CANDIDATES if arm.plan is None else arm.plan.method
    modules = (*_BENCH, *(f"unmask.search.{name}" for name in (*_ALL, *_OF_METHOD[method])))
    parts = (repr(arm), *(inspect.getsource(import_module(name)) for name in modules))
    return f"{arm.name} {blake2b(''.join(parts).encode(), digest_size=DIGEST_BYTES).hexdigest()}"
