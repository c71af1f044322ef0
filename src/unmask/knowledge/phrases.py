"""Phrases in questions, whatever the endings of their words and with a name in between."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from unmask.knowledge.function_words import FUNCTION_WORDS
from unmask.knowledge.korean import Tail, tail_of
from unmask.knowledge.script import Script, Unit, units

T = TypeVar("T")

WIDEST_GAP = 4
"""Most units between two words of a phrase: *where does … live* goes around a name."""
_SHORTEST_STEM = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase(Generic[T]):
    """Words that stand for something.

    Attributes:
        weak: whether all of them are of the kind that every question has, such as *who is*.
    """

    words: tuple[Unit, ...]
    targets: tuple[T, ...]
    weak: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence(Generic[T]):
    """A phrase in a text: where each of its words is, and what of the last unit is no part of it."""

    phrase: Phrase[T]
    at: tuple[int, ...]
    tail: str


class Phrases(Generic[T]):
    """Phrases by their first word."""

    def __init__(self, phrases: Sequence[tuple[str, T]]) -> None:
        words_of: dict[tuple[str, ...], tuple[Unit, ...]] = {}
        targets_of: dict[tuple[str, ...], list[T]] = defaultdict(list)
        for text, target in phrases:
            words = units(text)
            key = tuple(stem(word) for word in words)
            words_of.setdefault(key, words)
            if target not in targets_of[key]:
                targets_of[key].append(target)
        self._by_first: dict[str, list[Phrase[T]]] = defaultdict(list)
        for key, words in words_of.items():
            if words:
                weak = all(word.text in FUNCTION_WORDS for word in words)
                phrase = Phrase(words=words, targets=tuple(targets_of[key]), weak=weak)
                self._by_first[_head(words[0])].append(phrase)

    def find(self, text: Sequence[Unit]) -> Iterator[Occurrence[T]]:
        """Yield every occurrence of every phrase; they may share words."""
        for start, unit in enumerate(text):
            for phrase in self._by_first.get(_head(unit), ()):
                at = _match(text, start, phrase)
                if at is not None:
                    last = text[at[-1]]
                    tail = last.text[len(phrase.words[-1].text) :] if last.script is Script.HANGUL else ""
                    yield Occurrence(phrase=phrase, at=at, tail=tail)


def stem(unit: Unit) -> str:
    """Return an English word without its inflection, roughly; what is not English is seldom changed by it."""
    if unit.script is not Script.WORD:
        return unit.text
    word = unit.text
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            word = word[: -len(ending)]
            break
    if len(word) > _SHORTEST_STEM and word[-1] == "e":
        word = word[:-1]
    return f"{word[:-1]}i" if len(word) >= _SHORTEST_STEM and word[-1] == "y" else word


def _match(text: Sequence[Unit], start: int, phrase: Phrase[T]) -> tuple[int, ...] | None:
    """Return where the words of a phrase are, in order; a phrase of function words alone goes around nothing."""
    places: list[int] = []
    at = start
    for word in phrase.words:
        reach = 1 if not places or phrase.weak else WIDEST_GAP + 1
        near = range(at, min(at + reach, len(text)))
        place = next((place for place in near if _same(text[place], word, alone=len(phrase.words) == 1)), None)
        if place is None:
            return None
        places.append(place)
        at = place + 1
    return tuple(places)


def _same(unit: Unit, word: Unit, *, alone: bool) -> bool:
    """Tell whether a unit is a word of a phrase, whatever its ending.

    A phrase of one syllable has to be followed by particles: 집 is not asked for by 집중.
    """
    if unit.script is not word.script:
        return False
    if unit.script is not Script.HANGUL:
        return stem(unit) == stem(word)
    if not unit.text.startswith(word.text):
        return False
    return not alone or len(word.text) > 1 or tail_of(word.text, unit.text[len(word.text) :]) is not Tail.NO_PARTICLE


def _head(unit: Unit) -> str:
    return unit.text[0] if unit.script is Script.HANGUL else stem(unit)
