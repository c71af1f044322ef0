"""Which slots a question asks for, by the words its world gives for each."""

from collections.abc import Sequence

from unmask.knowledge.common_phrases import COMMON
from unmask.knowledge.mention import Mention, SlotMention
from unmask.knowledge.phrases import Occurrence, Phrases
from unmask.knowledge.script import Unit
from unmask.knowledge.world import World


class SlotPhrases:
    """Finds the phrases of all slots of a world, in all its languages; a slot's own name is one of its phrases."""

    def __init__(self, world: World) -> None:
        slots = [slot for kind in world.types.values() for slot in kind.slots.values()]
        names = [(slot.name.replace("_", " "), slot.name) for slot in slots]
        asked = [(text, slot.name) for slot in slots for texts in slot.asked_by.values() for text in texts]
        common = [(text, slot.name) for slot in slots for text in COMMON.get(slot.name, ())]
        self._phrases: Phrases[str] = Phrases([*names, *asked, *common])

    def find(self, text: Sequence[Unit], taken: Sequence[Mention]) -> tuple[SlotMention, ...]:
        """Return the slots asked for, from left to right, outside of the names of entities.

        Of phrases that share words the one with most of them counts. Weak ones count only where there is no other.
        """
        covered = {at for mention in taken for at in range(mention.start, mention.end)}
        found = [occurrence for occurrence in self._phrases.find(text) if covered.isdisjoint(occurrence.at)]
        found.sort(key=_rank)
        kept: list[SlotMention] = []
        used: set[int] = set()
        for occurrence in found:
            if used.isdisjoint(occurrence.at):
                used.update(occurrence.at)
                kept.append(_mention(occurrence))
        strong = [mention for mention in kept if not mention.weak]
        return tuple(sorted(strong or kept, key=lambda mention: (mention.start, mention.end)))


def _rank(occurrence: Occurrence[str]) -> tuple[int, int, int, tuple[int, ...]]:
    letters = sum(len(word.text) for word in occurrence.phrase.words)
    return -len(occurrence.at), occurrence.at[-1] - occurrence.at[0], -letters, occurrence.at


def _mention(occurrence: Occurrence[str]) -> SlotMention:
    return SlotMention(
        start=occurrence.at[0],
        end=occurrence.at[-1] + 1,
        tail=occurrence.tail,
        slots=occurrence.phrase.targets,
        weak=occurrence.phrase.weak,
    )
