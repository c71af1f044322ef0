"""Caches of answers for tests: with n-grams in place of word vectors, and an embedder that is down when told to be."""

from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

from unmask.cache.cache import AnswerCache
from unmask.cache.embedding import Compared, Embeddings
from unmask.cache.entry import Meaning, Question, Scope
from unmask.cache.guard import tokens_of
from unmask.cache.store import AnswerStore, Bounds
from unmask.clock import Clock
from unmask.control.cache_audits import AuditBook
from unmask.control.cached import CacheParts
from unmask.knowledge.embedding import NgramEmbedder, Vectors
from unmask.knowledge.retrieval_errors import EmbedderError
from unmask.testing.manual_clock import ManualClock

ALIKE = 0.3


class NgramEmbeddings:
    """Compares texts by their letters."""

    is_up = True
    failures = 0

    def __init__(self, least: float = ALIKE) -> None:
        self._least = least
        self._embedder = NgramEmbedder()

    async def compared(self, text: str) -> Compared | None:
        """Return a text with its vector."""
        vector = self._embedder.embed([text])[0]
        meaning = Meaning(embedder=self._embedder.name, vector=vector, tokens=tokens_of(text))
        return Compared(meaning=meaning, least=self._least)

    def close(self) -> None:
        """Hold nothing."""


class FlakyEmbedder:
    """An embedder that is down while `is_down` says so, and counts how often it is asked."""

    name = "flaky"

    def __init__(self) -> None:
        self.is_down = False
        self.asked = 0
        self._embedder = NgramEmbedder()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return vectors; raise an `EmbedderError` while it is down."""
        self.asked += 1
        if self.is_down:
            raise EmbedderError("down")
        return self._embedder.embed(texts)


def make_question(text: str = "What is your home?", *, tenant: str = "", digest: str = "same") -> Question:
    """Return a question of a scope."""
    return Question(scope=Scope(tenant=tenant, digest=digest), text=text)


def make_store(
    clock: Clock | None = None, *, entries: int = 100, size: int = 1 << 20, ttl_s: float = 60.0
) -> AnswerStore:
    """Return an empty store."""
    return AnswerStore(Bounds(entries=entries, bytes=size, ttl_s=ttl_s), clock or ManualClock())


def make_cache(
    clock: Clock | None = None, *, embeddings: Embeddings | None = None, store: AnswerStore | None = None
) -> AnswerCache:
    """Return an empty cache that compares letters; its entries are called ``entry-1`` and so on."""
    clock = clock or ManualClock()
    numbers = count(1)
    return AnswerCache(
        store or make_store(clock), embeddings or NgramEmbeddings(), clock, lambda: f"entry-{next(numbers)}"
    )


def make_cache_parts(
    folder: Path,
    *,
    cache: AnswerCache | None = None,
    audit_share: float = 0.0,
    draw: Callable[[], float] = lambda: 0.5,
) -> CacheParts:
    """Return what a controller keeps answers by; none is generated again unless told so."""
    return CacheParts(cache=cache or make_cache(), audit_share=audit_share, draw=draw, book=AuditBook(folder))
