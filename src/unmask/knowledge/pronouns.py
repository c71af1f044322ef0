"""Words that point at the speaker or at somebody named before."""

from collections.abc import Iterable, Iterator, Sequence

from unmask.knowledge.function_words import PERSON, SPEAKER, THING
from unmask.knowledge.korean import Tail, tail_of
from unmask.knowledge.mention import Pointing, Pronoun
from unmask.knowledge.script import Script, Unit

_WORDS = {
    **dict.fromkeys(SPEAKER, Pointing.SPEAKER),
    **dict.fromkeys(PERSON, Pointing.PERSON),
    **dict.fromkeys(THING, Pointing.THING),
}
_LONGEST = max(len(word) for word in _WORDS)


def find_pronouns(text: Sequence[Unit], covered: Iterable[int]) -> Iterator[Pronoun]:
    """Yield the pronouns of a text, outside of the units that are covered."""
    taken = frozenset(covered)
    for at, unit in enumerate(text):
        if at not in taken:
            word = _word(unit)
            if word:
                tail = unit.text[len(word) :]
                yield Pronoun(start=at, end=at + 1, tail=tail, pointing=_WORDS[word])


def _word(unit: Unit) -> str | None:
    """Return the pronoun that a unit is, without what Korean writes onto it."""
    if unit.script is not Script.HANGUL:
        return unit.text if unit.text in _WORDS else None
    for length in range(min(len(unit.text), _LONGEST), 0, -1):
        stem = unit.text[:length]
        if stem in _WORDS and tail_of(stem, unit.text[length:]) in (Tail.NOTHING, Tail.FITTING):
            return stem
    return None
