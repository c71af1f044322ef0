"""Looks answers up: by the very same question, then by one that asks the same in other words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from unmask.backend import Generation
from unmask.cache.embedding import Embeddings
from unmask.cache.entry import Entry, Meaning, Question
from unmask.cache.guard import Difference, difference
from unmask.cache.store import AnswerStore
from unmask.clock import Clock
from unmask.types import Verification


class Match(StrEnum):
    """How an answer was found: by the same words, by others that ask the same, or not at all."""

    EXACT = "exact"
    SEMANTIC = "semantic"
    MISS = "miss"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the cache has for a question.

    Attributes:
        entry: the answer; ``None`` of a miss.
        similarity: cosine of both questions, 1 of the same; ``None`` of a miss.
        age_s: how old the answer is.
        meaning: of the question, where it was compared.
        kept_out: what kept the nearest question from being taken for the same.
    """

    match: Match
    entry: Entry | None = None
    similarity: float | None = None
    age_s: float | None = None
    meaning: Meaning | None = None
    kept_out: Difference | None = None


class AnswerCache:
    """Answers of earlier requests, to be given again within their scope.

    Args:
        store: where they are.
        embeddings: compares questions; ``None`` looks for the same words only.
        clock: tells when an answer was kept.
        new_id: names entries.
    """

    def __init__(
        self, store: AnswerStore, embeddings: Embeddings | None, clock: Clock, new_id: Callable[[], str]
    ) -> None:
        self.store = store
        self._embeddings = embeddings
        self._clock = clock
        self._new_id = new_id

    @property
    def is_embedder_up(self) -> bool:
        """Whether the embedder answered when it was last asked."""
        return self._embeddings is None or self._embeddings.is_up

    @property
    def embedder_failures(self) -> int:
        """Times that the embedder did not answer."""
        return 0 if self._embeddings is None else self._embeddings.failures

    async def find(self, question: Question, *, max_age_s: float | None = None) -> Found:
        """Look a question up; nothing is shared with another scope.

        Args:
            question: what is asked.
            max_age_s: how old an answer may be, beside the store's own bound.
        """
        same = self.store.same(question)
        if same is not None and self._is_young(same, max_age_s):
            return self._hit(Match.EXACT, same, 1.0, same.meaning)
        compared = None if self._embeddings is None else await self._embeddings.compared(question.text)
        if compared is None:
            return Found(match=Match.MISS)
        near = self.store.alike(question.scope, compared.meaning, compared.least)
        return self._nearest([pair for pair in near if self._is_young(pair[0], max_age_s)], compared.meaning)

    def put(
        self,
        question: Question,
        generation: Generation,
        verification: Verification,
        meaning: Meaning | None,
        *,
        model: str = "",
    ) -> bool:
        """Keep an answer, of a model; return whether there is room for it."""
        entry = Entry(
            id=self._new_id(),
            question=question,
            generation=generation,
            verification=verification,
            stored=self._clock.now(),
            meaning=meaning,
            model=model,
        )
        return self.store.add(entry)

    def close(self) -> None:
        """Let go of what compares questions."""
        if self._embeddings is not None:
            self._embeddings.close()

    def _nearest(self, near: Sequence[tuple[Entry, float]], meaning: Meaning) -> Found:
        kept_out: Difference | None = None
        for entry, similarity in near:
            assert entry.meaning is not None, "only what has a vector is near"
            differs = difference(entry.meaning.tokens, meaning.tokens)
            if differs is None:
                return self._hit(Match.SEMANTIC, entry, similarity, meaning)
            kept_out = kept_out or differs
        return Found(match=Match.MISS, meaning=meaning, kept_out=kept_out)

    def _hit(self, match: Match, entry: Entry, similarity: float, meaning: Meaning | None) -> Found:
        return Found(match=match, entry=entry, similarity=similarity, age_s=self.store.age_s(entry), meaning=meaning)

    def _is_young(self, entry: Entry, max_age_s: float | None) -> bool:
        return max_age_s is None or self.store.age_s(entry) <= max_age_s
