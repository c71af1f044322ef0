"""Statements that sound like a question, where nothing else says which it is about."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from unmask.knowledge.embedding import Embedder
from unmask.knowledge.function_words import FUNCTION_WORDS
from unmask.knowledge.graph import Graph
from unmask.knowledge.phrases import stem
from unmask.knowledge.prose import Writer
from unmask.knowledge.script import units
from unmask.knowledge.vectors import VectorCache
from unmask.knowledge.world import Statement

LOOKED_AT = 24
"""Most statements that are ranked by anything but their vectors."""
RRF_K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A statement and the sum of its reciprocal ranks."""

    statement: Statement
    score: float


def fused(rankings: Sequence[Sequence[int]]) -> dict[int, float]:
    """Fuse rankings, given as each item's rank from 1, equal where items tie: Σ 1 / (60 + rank) over rankings."""
    return {at: sum(1 / (RRF_K + ranks[at]) for ranks in rankings) for at in range(len(rankings[0]))}


class Similar:
    """Finds similar statements by three rankings: vectors, words in common, and steps from what is named."""

    def __init__(self, graph: Graph, embedder: Embedder, language: str, cache: VectorCache) -> None:
        self._graph = graph
        self._embedder = embedder
        self._language = language
        self._cache = cache
        self._write = Writer(graph.world, language).statement

    def prepare(self) -> None:
        """Embed the world's statements now, not at the first question that needs them."""
        self._cache.of(self._graph.world, self._language, self._embedder)

    def to(self, question: str, near: Sequence[str], count: int) -> tuple[Scored, ...]:
        """Return the current statements most like a question: of the entities in ``near``, then of those next to them.

        Without any in ``near`` all statements are looked at.
        """
        ids = self._by_vector(question, self._around(near))
        if not ids or count < 1:
            return ()
        found = [self._graph.world.statements[id_] for id_ in ids]
        asked = _content(question)
        overlaps = [-len(asked & _content(self._write(statement))) for statement in found]
        steps = [statement.subject not in near for statement in found]
        scores = fused([range(1, len(found) + 1), _ranks(overlaps), _ranks(steps)])
        best = sorted(scores, key=lambda at: (steps[at] and bool(near), -scores[at], at))[:count]
        return tuple(Scored(statement=found[at], score=scores[at]) for at in best)

    def _around(self, near: Sequence[str]) -> tuple[str, ...] | None:
        if not near:
            return None
        entities = dict.fromkeys(near) | {n: None for entity in near for n in sorted(self._graph.neighbours(entity))}
        return tuple(
            statement.id for entity in entities for statement in self._graph.of(entity) if statement.validity.is_current
        )

    def _by_vector(self, question: str, among: Collection[str] | None) -> list[str]:
        kept = self._cache.of(self._graph.world, self._language, self._embedder)
        asked = self._embedder.embed([question])[0]
        if not len(kept.ids):
            return []
        places = np.arange(len(kept.ids)) if among is None else np.array([kept.places[id_] for id_ in among], int)
        if not places.size:
            return []
        alike = (kept.rows if among is None else kept.rows[places]) @ asked
        if alike.size > LOOKED_AT * 2:
            first = np.argpartition(-alike, LOOKED_AT * 2)[: LOOKED_AT * 2]
            places, alike = places[first], alike[first]
        order = np.lexsort((places, -alike))
        ids = [kept.ids[place] for place in places[order]]
        statements = self._graph.world.statements
        return [id_ for id_ in ids if statements[id_].validity.is_current][:LOOKED_AT]


def _ranks(values: Sequence[int]) -> list[int]:
    """Return the rank of each value, the smallest first; equal values share a rank."""
    order = {value: rank for rank, value in enumerate(sorted(set(values)), 1)}
    return [order[value] for value in values]


def _content(text: str) -> frozenset[str]:
    return frozenset(stem(unit) for unit in units(text) if unit.text not in FUNCTION_WORDS)
