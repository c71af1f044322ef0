"""From a question's paths to the statements on them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

from unmask.knowledge.conversation import Conversation
from unmask.knowledge.graph import Graph
from unmask.knowledge.mention import Mention, Pointing, Pronoun
from unmask.knowledge.question import Anchor, Path, Question
from unmask.knowledge.world import Statement

T = TypeVar("T")

MOST_INVERSE = 8
"""Most statements taken of those that lead to one value: half a world may live in one town."""
MOST_REFERENTS = 2
MOST_BETWEEN = 4
Hops = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Walked:
    """What a question's paths led to.

    Attributes:
        linked: entities that the question is about or names, the speaker among them where it is addressed.
        asked: statements at the ends of paths. ``on_the_way``: those before, and those that join what is named.
        ends: entities that paths led to.
        slots: those that paths end with.
    """

    linked: tuple[str, ...]
    asked: tuple[Statement, ...]
    on_the_way: tuple[Statement, ...]
    ends: tuple[str, ...]
    slots: tuple[str, ...]


class Walk:
    """One question's walk over a graph; ``walked`` is its result."""

    def __init__(
        self,
        question: Question,
        mentions: Sequence[Mention],
        graph: Graph,
        speaker: str,
        conversation: Conversation,
    ) -> None:
        self._question = question
        self._graph = graph
        self._speaker = speaker
        self._conversation = conversation
        self._meant = {(mention.start, mention.end): mention for mention in mentions}
        self._named = _unique(candidate.entity for mention in mentions for candidate in mention.candidates)
        self._linked: list[str] = list(self._named)
        self._asked: list[Statement] = []
        self._way: list[Statement] = []
        self._ends: list[str] = []
        self._slots: list[str] = []

    def walked(self) -> Walked:
        """Follow every path; where no slot was asked for, look at what joins what is named."""
        for path in self._question.paths:
            if path.anchors or path.chained or self._named or not self._question.values:
                self._follow_path(path)
        if any(pronoun.pointing is Pointing.SPEAKER for pronoun in self._question.pronouns):
            self._linked.append(self._speaker)
        if self._question.elliptical and self._conversation.asked:
            self._go_on()
        elif not self._question.paths:
            self._linked += [entity for pronoun in self._question.pronouns for entity in self._entities(pronoun)]
            self._join_named()
        if not self._asked:
            self._look_for_values()
        return Walked(
            linked=_unique(self._linked),
            asked=_unique(self._asked),
            on_the_way=_unique(self._way),
            ends=_unique(self._ends),
            slots=_unique(self._slots) or (self._conversation.asked if self._question.elliptical else ()),
        )

    def _entities(self, anchor: Anchor) -> tuple[str, ...]:
        """Return whom a mention or pronoun means."""
        if isinstance(anchor, Mention):
            mention = self._meant[anchor.start, anchor.end]
            return tuple(candidate.entity for candidate in mention.candidates)
        return self._referents(anchor)

    def _referents(self, pronoun: Pronoun) -> tuple[str, ...]:
        """Return whom a pronoun points at: persons are what is of the speaker's type."""
        if pronoun.pointing is Pointing.SPEAKER:
            return (self._speaker,)
        kind = self._graph.world.entities[self._speaker].type
        is_person = pronoun.pointing is Pointing.PERSON
        focus = [entity for entity in self._conversation.focus if entity not in self._named]
        fitting = [entity for entity in focus if (self._graph.world.entities[entity].type == kind) is is_person]
        return tuple((fitting or focus)[:MOST_REFERENTS])

    def _starts(self, path: Path) -> tuple[str, ...]:
        if path.chained and self._ends:
            return _unique(self._ends)
        starts = _unique(entity for anchor in path.anchors for entity in self._entities(anchor))
        if starts:
            return starts
        focus = self._conversation.focus[:MOST_REFERENTS]
        if focus and self._question.elliptical:
            return focus
        return self._named or _unique((*focus, self._speaker))

    def _follow_path(self, path: Path) -> None:
        starts = self._starts(path)
        if self._question.inverted and len(path.hops) == 1:
            inverse = self._inverse(starts, path.hops[0])
            if inverse:
                self._take([inverse], starts, path.hops, inverse=True)
                return
        first = self._layers(starts, path.hops)
        attempts = [(starts, path.hops, first)]
        if len(path.hops) > 1:
            turned = tuple(reversed(path.hops))
            attempts.append((starts, turned, self._layers(starts, turned)))
        if not path.bound:
            others = _unique((*self._named, *((self._speaker,) if self._addressed else ())))
            attempts += [((other,), path.hops, self._layers((other,), path.hops)) for other in others]
        for begun, hops, layers in attempts:
            if all(layers):
                self._take(layers, begun, hops)
                return
        inverse = [] if self._can_start(starts, path.hops[0]) else self._inverse(starts, path.hops[0])
        if inverse:
            self._take([inverse], starts, path.hops[:1], inverse=True)
        else:
            self._take(first, starts, path.hops)

    @property
    def _addressed(self) -> bool:
        return any(pronoun.pointing is Pointing.SPEAKER for pronoun in self._question.pronouns)

    def _can_start(self, starts: Sequence[str], hop: Sequence[str]) -> bool:
        return any(self._graph.has_slot(entity, slot) for entity in starts for slot in hop)

    def _layers(self, starts: Sequence[str], hops: Hops) -> list[list[Statement]]:
        """Return the statements of each hop; after a hop without any, all further ones have none."""
        layers: list[list[Statement]] = []
        front = tuple(starts)
        for hop in hops:
            layer = [
                statement
                for entity in front
                for slot in hop
                if self._graph.has_slot(entity, slot)
                for statement in self._graph.values(entity, slot, past=self._question.past)
            ]
            layers.append(layer)
            front = _unique(statement.value for statement in layer if self._graph.is_edge(statement))
        return layers

    def _inverse(self, values: Sequence[str], hop: Sequence[str]) -> list[Statement]:
        """Return the statements on a slot whose value is one of these entities."""
        found = [statement for value in values for statement in self._graph.leading_to(value) if statement.slot in hop]
        current = [statement for statement in found if statement.validity.is_current]
        return (found if self._question.past or not current else current)[:MOST_INVERSE]

    def _take(
        self, layers: Sequence[Sequence[Statement]], starts: Sequence[str], hops: Hops, *, inverse: bool = False
    ) -> None:
        self._linked += starts
        self._asked += layers[-1]
        self._way += [statement for layer in layers[:-1] for statement in layer]
        self._slots += hops[-1]
        reached = layers[-1] or next((layer for layer in reversed(layers) if layer), [])
        if inverse:
            self._ends += [statement.subject for statement in reached]
        else:
            self._ends += [statement.value for statement in reached if self._graph.is_edge(statement)]

    def _go_on(self) -> None:
        """Ask again what the last question asked, of whom this one is about."""
        fresh = _unique(self._ends) or self._named
        if not fresh:
            pointed = [entity for pronoun in self._question.pronouns for entity in self._entities(pronoun)]
            fresh = () if self._question.paths else _unique(pointed)
            self._linked += fresh
        slots = [slot for slot in self._conversation.asked if slot not in self._slots]
        if fresh and slots:
            (layer,) = self._layers(fresh, [slots])
            self._asked += layer
            self._ends += [statement.value for statement in layer if self._graph.is_edge(statement)]

    def _join_named(self) -> None:
        pairs = combinations(_unique(self._linked), 2)
        self._way += [statement for pair in pairs for statement in self._graph.between(*pair)][:MOST_BETWEEN]

    def _look_for_values(self) -> None:
        """Take the statements that say a value of the question, next to whom it names if it names anyone."""
        near = {entity for name in self._named for entity in (name, *self._graph.neighbours(name))}
        found = [
            statement
            for mention in self._question.values
            for statement in self._graph.saying(mention.value)
            if not near or statement.subject in near
        ]
        if self._addressed and self._question.paths:
            found = [statement for statement in found if statement.subject == self._speaker]
        self._asked += found[:MOST_BETWEEN]
        self._ends += [statement.subject for statement in found[:MOST_BETWEEN]]


def _unique(found: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(found))
