"""The vectors of a world's statements, computed once."""

from collections.abc import Mapping
from dataclasses import dataclass

from unmask.knowledge.embedding import Embedder, Vectors
from unmask.knowledge.prose import Writer
from unmask.knowledge.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementVectors:
    """Vectors of all statements of a world in one language: ``rows`` has one for each of ``ids``."""

    ids: tuple[str, ...]
    rows: Vectors
    places: Mapping[str, int]


class VectorCache:
    """Keeps vectors in memory by world digest, language and embedder; retrievers may share one."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str, str], StatementVectors] = {}

    def of(self, world: World, language: str, embedder: Embedder) -> StatementVectors:
        """Return the vectors of a world's statements, embedding their sentences at the first call.

        Raises:
            EmbedderError: there are no vectors to be had.
        """
        key = world.digest, language, embedder.name
        if key not in self._kept:
            write = Writer(world, language).statement
            rows = embedder.embed([write(statement) for statement in world.statements.values()])
            ids = tuple(world.statements)
            self._kept[key] = StatementVectors(ids=ids, rows=rows, places={id_: at for at, id_ in enumerate(ids)})
        return self._kept[key]
