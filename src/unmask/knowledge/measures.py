"""How well a prompt's facts were chosen, held against those that its answer needs.

Retrieval never sees this: which facts are needed is known to whoever wrote the question.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from unmask.knowledge.context import Context
from unmask.knowledge.world import ValueKind, World


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryMeasures:
    """What was counted of one query, or of several added up.

    Facts carried from earlier turns count among the injected ones: the model has them before it because of this
    question. A pinned fact is needed only if the scenario says so.

    Attributes:
        injected: facts in the prompt. ``signal``: those of them that are needed.
        needed: facts that the answer needs.
        entities: that the needed facts are about or lead to. ``covered``: those of them in facts of the prompt.
    """

    injected: int
    signal: int
    needed: int
    entities: int
    covered: int

    @property
    def signal_density(self) -> float | None:
        """Return needed ÷ injected; nothing where nothing was injected."""
        return self.signal / self.injected if self.injected else None

    @property
    def recall(self) -> float | None:
        """Return the share of needed facts in the prompt; nothing where none is needed."""
        return self.signal / self.needed if self.needed else None

    @property
    def entity_coverage(self) -> float | None:
        """Return the share of entities of needed facts that the prompt has; nothing where there is none."""
        return self.covered / self.entities if self.entities else None


def measure(world: World, context: Context, needed: Collection[str]) -> QueryMeasures:
    """Count for one query; ``needed`` are ids of statements and misconceptions."""
    injected = {fact.id for fact in context.facts}
    wanted = _entities(world, needed)
    return QueryMeasures(
        injected=len(injected),
        signal=len(injected & set(needed)),
        needed=len(set(needed)),
        entities=len(wanted),
        covered=len(wanted & _entities(world, injected)),
    )


def pooled(measures: Iterable[QueryMeasures]) -> QueryMeasures:
    """Add up the counts of queries: a query with many facts weighs more than one with few."""
    found = list(measures)
    return QueryMeasures(
        injected=sum(one.injected for one in found),
        signal=sum(one.signal for one in found),
        needed=sum(one.needed for one in found),
        entities=sum(one.entities for one in found),
        covered=sum(one.covered for one in found),
    )


def _entities(world: World, ids: Iterable[str]) -> frozenset[str]:
    """Return whom facts are about and lead to; a misconception's claim leads nowhere."""
    entities: set[str] = set()
    for id_ in ids:
        statement = world.statements.get(id_)
        if statement is None:
            entities.add(world.misconceptions[id_].subject)
            continue
        entities.add(statement.subject)
        if world.slot_of(statement.subject, statement.slot).kind is ValueKind.ENTITY:
            entities.add(statement.value)
    return frozenset(entities)
