"""Which slots a question asks for, by the words its world gives for each."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from unmask.knowledge.function_words import FUNCTION_WORDS
from unmask.knowledge.korean import Tail, tail_of
from unmask.knowledge.mention import Mention, SlotMention
from unmask.knowledge.script import Script, Unit, units
from unmask.knowledge.world import World

WIDEST_GAP = 4
"""Most units between two words of a phrase: *where does … live* goes around a name."""
_SHORTEST_STEM = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Phrase:
    words: tuple[Unit, ...]
    slots: tuple[str, ...]
    weak: bool


class SlotPhrases:
    """Finds the phrases of all slots of a world, in all its languages; a slot's own name is one of its phrases."""

    def __init__(self, world: World) -> None:
        slots_of: dict[tuple[str, ...], list[str]] = defaultdict(list)
        words_of: dict[tuple[str, ...], tuple[Unit, ...]] = {}
        for slot in (slot for kind in world.types.values() for slot in kind.slots.values()):
            spelt = slot.name.replace("_", " ")
            for phrase in (spelt, *(text for texts in slot.asked_by.values() for text in texts)):
                words = units(phrase)
                key = tuple(_stem(word) for word in words)
                if key and slot.name not in slots_of[key]:
                    slots_of[key].append(slot.name)
                    words_of[key] = words
        self._by_first: dict[str, list[_Phrase]] = defaultdict(list)
        for key, words in words_of.items():
            weak = all(word.text in FUNCTION_WORDS for word in words)
            phrase = _Phrase(words=words, slots=tuple(slots_of[key]), weak=weak)
            self._by_first[_head(words[0])].append(phrase)

    def find(self, text: Sequence[Unit], taken: Sequence[Mention]) -> tuple[SlotMention, ...]:
        """Return the slots asked for, from left to right, outside of the names of entities.

        Of phrases that share words the one with most of them counts. Weak ones count only where there is no other.
        """
        covered = {at for mention in taken for at in range(mention.start, mention.end)}
        found = [(mention, at) for mention, at in self._all(text) if covered.isdisjoint(at)]
        found.sort(key=lambda one: (-len(one[1]), one[1][-1] - one[1][0], one[1]))
        kept: list[SlotMention] = []
        used: set[int] = set()
        for mention, at in found:
            if used.isdisjoint(at):
                used.update(at)
                kept.append(mention)
        strong = [mention for mention in kept if not mention.weak]
        return tuple(sorted(strong or kept, key=lambda mention: (mention.start, mention.end)))

    def _all(self, text: Sequence[Unit]) -> Iterator[tuple[SlotMention, tuple[int, ...]]]:
        for start, unit in enumerate(text):
            for phrase in self._by_first.get(_head(unit), ()):
                at = _match(text, start, phrase)
                if at is None:
                    continue
                last, word = text[at[-1]], phrase.words[-1]
                tail = last.text[len(word.text) :] if last.script is Script.HANGUL else ""
                yield (
                    SlotMention(start=start, end=at[-1] + 1, tail=tail, slots=phrase.slots, weak=phrase.weak),
                    at,
                )


def _match(text: Sequence[Unit], start: int, phrase: _Phrase) -> tuple[int, ...] | None:
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
        return _stem(unit) == _stem(word)
    if not unit.text.startswith(word.text):
        return False
    return not alone or len(word.text) > 1 or tail_of(word.text, unit.text[len(word.text) :]) is not Tail.NO_PARTICLE


def _head(unit: Unit) -> str:
    return unit.text[0] if unit.script is Script.HANGUL else _stem(unit)


def _stem(unit: Unit) -> str:
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
