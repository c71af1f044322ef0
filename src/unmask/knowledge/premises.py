"""Which misconceptions a question shows."""

from collections.abc import Collection

from unmask.knowledge.function_words import FUNCTION_WORDS
from unmask.knowledge.graph import Graph
from unmask.knowledge.phrases import Occurrence, Phrases
from unmask.knowledge.question import Question
from unmask.knowledge.world import Misconception, ValueKind, World

TELLING = 2
"""A trigger of so many words that are no function words speaks for itself, whoever else is named."""


class Premises:
    """Finds the misconceptions of a world that a question rests on."""

    def __init__(self, world: World, graph: Graph) -> None:
        self._world = world
        self._graph = graph
        self._triggers: Phrases[str] = Phrases(
            [
                (trigger, misconception.id)
                for misconception in world.misconceptions.values()
                for triggers in misconception.triggers.values()
                for trigger in triggers
            ]
        )

    def of(
        self, question: Question, subjects: Collection[str], named: Collection[str], slots: Collection[str]
    ) -> tuple[Misconception, ...]:
        """Return what a question wrongly believes, in the order of the world's records.

        It does where it is about the subject and says the claimed value; where it is about the subject, names whom
        that is mistaken for, and asks for the slot or for none; and where it says a trigger and is about the subject,
        or the trigger is of several telling words.
        """
        said = {mention.value for mention in question.values}
        triggered = {
            misconception
            for occurrence in self._triggers.find(question.text)
            for misconception in occurrence.phrase.targets
            if _is_telling(occurrence) or self._world.misconceptions[misconception].subject in subjects
        }
        about = [found for subject in subjects for found in self._graph.believed_of(subject)]
        triggered |= {found.id for found in about if self._is_claimed(found, said, named, slots)}
        return tuple(self._world.misconceptions[key] for key in self._world.misconceptions if key in triggered)

    def _is_claimed(
        self, found: Misconception, said: Collection[str], named: Collection[str], slots: Collection[str]
    ) -> bool:
        is_entity = self._world.slot_of(found.subject, found.slot).kind is ValueKind.ENTITY
        if found.claimed in (named if is_entity else said):
            return True
        return found.confused_with in named and (not slots or found.slot in slots)


def _is_telling(occurrence: Occurrence[str]) -> bool:
    return sum(word.text not in FUNCTION_WORDS for word in occurrence.phrase.words) >= TELLING
