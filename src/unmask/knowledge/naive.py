"""The baseline: everything around a question as triples, chosen by nothing.

This is the one place in the package that is told which facts an answer needs, and puts them among the rest: the
baseline loses by what surrounds the needed facts, never by lacking them.
"""

from collections.abc import Sequence
from random import Random

from unmask.errors import InvalidRequestError
from unmask.knowledge.context import Context, Form, Injected, Reason
from unmask.knowledge.graph import Graph
from unmask.knowledge.packing import Packer
from unmask.knowledge.token_count import TokenCounter, embedded_tokens
from unmask.knowledge.world import Misconception, Statement, World

FACTS = 53
SPREAD = 10
NEAR = 0.5
"""Share of the other facts that is drawn from around the speaker, as far as there are any."""


def naive_triples(
    world: World,
    speaker: str,
    needed: Sequence[str],
    language: str,
    rng: Random,
    *,
    count_tokens: TokenCounter = embedded_tokens,
) -> Context:
    """Return 53 ± 10 facts as subject, relation and object in random order, all needed ones among them.

    There is no budget and nothing is cut. Facts that ended are among them, as nothing in a triple says that they did.
    Where the world has fewer facts, there are all of them. Needed facts on slots that triples cannot write are in
    ``left_out``.

    Raises:
        InvalidRequestError: something needed is not in the world.
    """
    packer = Packer(world, language, Form.TRIPLES, count_tokens)
    records = [_record(world, id_) for id_ in dict.fromkeys(needed)]
    count = rng.randint(FACTS - SPREAD, FACTS + SPREAD) - sum(map(packer.can_write, records))
    graph = Graph(world)
    named = (speaker, *(record.subject for record in records))
    around = dict.fromkeys((*named, *(near for entity in named for near in sorted(graph.neighbours(entity)))))
    near = [statement for entity in around for statement in graph.of(entity)]
    others = _drawn(near, round(count * NEAR), records, packer, rng)
    others += _drawn(list(world.statements.values()), count - len(others), [*records, *others], packer, rng)
    found = [*records, *others]
    rng.shuffle(found)
    written = [record for record in found if packer.can_write(record)]
    text = packer.text(written)
    return Context(
        world=world.id,
        language=language,
        form=Form.TRIPLES,
        entities=tuple(dict.fromkeys(one.subject for one in found)),
        facts=tuple(
            Injected(id=record.id, reason=Reason.NAIVE, score=1.0, tokens=count_tokens(packer.text([record])))
            for record in written
        ),
        dropped=(),
        text=text,
        tokens=count_tokens(text),
        left_out=tuple(record.id for record in found if not packer.can_write(record)),
    )


def _record(world: World, id_: str) -> Statement | Misconception:
    found = world.statements.get(id_) or world.misconceptions.get(id_)
    if found is None:
        raise InvalidRequestError("needed", id_, "an id of a statement or misconception", "Mend the scenario.")
    return found


def _drawn(
    pool: Sequence[Statement], count: int, taken: Sequence[Statement | Misconception], packer: Packer, rng: Random
) -> list[Statement]:
    ids = {record.id for record in taken}
    free = [statement for statement in pool if statement.id not in ids and packer.can_write(statement)]
    return rng.sample(free, min(max(count, 0), len(free)))
