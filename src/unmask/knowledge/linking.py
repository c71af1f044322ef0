"""Which entities and values a question names."""

from collections.abc import Iterable, Sequence

from unmask.knowledge.function_words import FUNCTION_WORDS
from unmask.knowledge.korean import Stemmer
from unmask.knowledge.mention import Candidate, Mention, ValueMention
from unmask.knowledge.names import Found, NameTree
from unmask.knowledge.script import Unit
from unmask.knowledge.world import ValueKind, World

NAME = 1.0
ALIAS = 0.7
"""A name is one entity's own; an alias may be several's."""


class Linker:
    """Finds entities by name and alias, and values by how they are written, in all languages of a world."""

    def __init__(self, world: World, stemmer: Stemmer | None = None) -> None:
        self._entities: NameTree[tuple[str, float]] = NameTree(stemmer)
        self._values: NameTree[str] = NameTree(stemmer)
        for entity in world.entities.values():
            names = set(entity.names.values())
            for name in sorted(names):
                self._entities.add(name, (entity.id, NAME))
            for alias in sorted({alias for texts in entity.aliases.values() for alias in texts} - names):
                self._entities.add(alias, (entity.id, ALIAS))
        for key, texts in world.words.items():
            for text in texts.values():
                self._values.add(text, key)
        said = [(found.subject, found.slot, found.value) for found in world.statements.values()]
        claimed = [(found.subject, found.slot, found.claimed) for found in world.misconceptions.values()]
        for subject, slot, value in (*said, *claimed):
            if world.slot_of(subject, slot).kind in (ValueKind.TEXT, ValueKind.NUMBER):
                self._values.add(value, value)

    def mentions(self, text: Sequence[Unit]) -> tuple[Mention, ...]:
        """Return the entities named in a text, with all that each name may mean.

        A name that is also a function word (*Will*, *May*) counts only where it is written with a capital letter.
        """
        return tuple(
            _mention(readings) for readings in self._entities.find(text) if not _is_function_word(readings[0], text)
        )

    def values(self, text: Sequence[Unit], taken: Iterable[Mention]) -> tuple[ValueMention, ...]:
        """Return the values said in a text, outside of the names of entities."""
        covered = {at for mention in taken for at in range(mention.start, mention.end)}
        return tuple(
            ValueMention(start=reading.start, end=reading.end, value=value)
            for readings in self._values.find(text)
            for reading in readings[:1]
            if covered.isdisjoint(range(reading.start, reading.end)) and not _is_function_word(reading, text)
            for value in reading.targets
        )


def _mention(readings: Sequence[Found[tuple[str, float]]]) -> Mention:
    scores: dict[str, float] = {}
    for reading in readings:
        for entity, score in reading.targets:
            scores[entity] = max(scores.get(entity, 0.0), score * reading.fit)
    ranked = sorted(scores.items(), key=lambda scored: (-scored[1], scored[0]))
    first = readings[0]
    return Mention(
        start=first.start,
        end=first.end,
        tail=first.tail,
        candidates=tuple(Candidate(entity=entity, score=score) for entity, score in ranked),
    )


def _is_function_word(found: Found[tuple[str, float]] | Found[str], text: Sequence[Unit]) -> bool:
    unit = text[found.start]
    return found.end - found.start == 1 and unit.text in FUNCTION_WORDS and not unit.raw[0].isupper()
