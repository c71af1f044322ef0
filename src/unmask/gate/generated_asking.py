"""What is asked of a person in a made-up world, turn by turn, in the dialogue task's own words."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from random import Random
from typing import assert_never

from unmask.gate.generated_world import LANGUAGE, MadeWorld, wrong_values
from unmask.gate.scenario import (
    AdmitsUnknown,
    Check,
    Claim,
    CorrectsClaim,
    KeepsManner,
    NamesEntities,
    ScenarioKind,
    StatesFact,
    Turn,
)
from unmask.knowledge.world import Statement
from unmask.tasks.dialogue_draft import listing
from unmask.tasks.dialogue_phrases import (
    ASKED_SLOTS,
    FOLLOW_FRAMES,
    PERSON_SLOTS,
    PREMISE_FRAMES,
    QUESTION_FRAMES,
    SLOT_NOUNS,
)
from unmask.tasks.item import Split
from unmask.tasks.phrasing import draw_phrasing

MOST_DRAWS = 200
FACTS_ASKED, FACTS_WEIGHTS = (1, 2, 3), (0.5, 0.35, 0.15)
"""Facts of one question; the task asks for up to five, less often."""


class Ask(StrEnum):
    """How a scenario asks; each is a question of the dialogue task."""

    FACT = "fact"
    RECORDED_TRAP = "recorded_trap"
    UNRECORDED_TRAP = "unrecorded_trap"
    DEEP_LORE = "deep_lore"
    PERSONA = "persona"
    CROSS_REFERENCE = "cross_reference"
    ABSENT_FACT = "absent_fact"
    FOLLOW_UP = "follow_up"
    FOLLOW_OTHER = "follow_other"

    @property
    def kind(self) -> ScenarioKind:
        """What it tries."""
        match self:
            case Ask.RECORDED_TRAP | Ask.UNRECORDED_TRAP:
                return ScenarioKind.TRAP
            case Ask.FOLLOW_UP | Ask.FOLLOW_OTHER:
                return ScenarioKind.MULTI_TURN
            case Ask.FACT | Ask.DEEP_LORE | Ask.PERSONA | Ask.CROSS_REFERENCE | Ask.ABSENT_FACT:
                return ScenarioKind(self.value)
            case _:
                assert_never(self)


class Asking:
    """Draws the scenarios of one person; no two ask the same first question."""

    def __init__(self, rng: Random, drawn: MadeWorld, person: str) -> None:
        self._rng = rng
        self._drawn = drawn
        self._world = drawn.world
        self._facts = drawn.facts(person)
        self._person = person
        self._believed = list(drawn.asked[person])
        self._asked: set[str] = set()

    def turns(self, ask: Ask) -> tuple[Turn, ...]:
        """Draw the turns of a scenario."""
        draw = self._ways()[ask]
        for _ in range(MOST_DRAWS):
            turns = draw()
            if turns[0].question not in self._asked:
                self._asked.add(turns[0].question)
                return turns
        raise AssertionError(f"{self._person} has nothing left to be asked")

    def _ways(self) -> Mapping[Ask, Callable[[], tuple[Turn, ...]]]:
        return {
            Ask.FACT: self._fact,
            Ask.RECORDED_TRAP: self._recorded_trap,
            Ask.UNRECORDED_TRAP: self._unrecorded_trap,
            Ask.DEEP_LORE: self._deep_lore,
            Ask.PERSONA: self._persona,
            Ask.CROSS_REFERENCE: self._cross_reference,
            Ask.ABSENT_FACT: self._absent_fact,
            Ask.FOLLOW_UP: self._follow_up,
            Ask.FOLLOW_OTHER: self._follow_other,
        }

    def _fact(self) -> tuple[Turn, ...]:
        return (self._plain(self._some(self._rng.choices(FACTS_ASKED, FACTS_WEIGHTS)[0])),)

    def _recorded_trap(self) -> tuple[Turn, ...]:
        believed = self._world.misconceptions[self._believed.pop()]
        fact = self._world.statements[believed.correction[0]]
        check = CorrectsClaim(misconception=believed.id)
        return (self._premise(fact, believed.claimed, (fact.id, believed.id), check),)

    def _unrecorded_trap(self) -> tuple[Turn, ...]:
        possible = [(fact, wrong) for fact in self._told() if (wrong := wrong_values(self._world, fact))]
        fact, wrong = self._rng.choice(possible)
        return (self._premise(fact, self._rng.choice(wrong), (fact.id,), StatesFact(statement=fact.id)),)

    def _deep_lore(self) -> tuple[Turn, ...]:
        hop = self._rng.choice(self._people())
        facts = self._of_other(hop, (1, 2))
        nouns = listing([f"the {self._noun(fact.slot)}" for fact in facts])
        question = self._frame(QUESTION_FRAMES, x=f"{nouns} of your {self._noun(hop.slot)}")
        named = NamesEntities(entities=(hop.value,))
        return (self._stating(question, (hop, *facts), named),)

    def _persona(self) -> tuple[Turn, ...]:
        persona = self._facts["persona"]
        turn = self._plain(self._some(1))
        manner = KeepsManner(persona=persona.value)
        return (Turn(question=turn.question, needed=(*turn.needed, persona.id), checks=(*turn.checks, manner)),)

    def _cross_reference(self) -> tuple[Turn, ...]:
        people = self._people()
        people = self._rng.sample(people, self._rng.randint(2, len(people)))
        return (self._plain(people, NamesEntities(entities=tuple(fact.value for fact in people))),)

    def _absent_fact(self) -> tuple[Turn, ...]:
        lacking = self._rng.choice([slot for slot in ASKED_SLOTS if slot not in self._facts])
        known = self._some(self._rng.randint(0, 1))
        slots = [lacking, *(fact.slot for fact in known)]
        self._rng.shuffle(slots)
        checks: tuple[Check, ...] = (AdmitsUnknown(subject=self._person, slot=lacking), *_stated(known))
        return (Turn(question=self._asks_for(slots), needed=tuple(fact.id for fact in known), checks=checks),)

    def _follow_up(self) -> tuple[Turn, ...]:
        """Ask for one fact of the person, then for more of its own; at times for one before that."""
        facts = self._some(self._rng.randint(2, 4))
        turns = [self._plain(facts[:1])]
        if len(facts) > 2:
            turns.append(self._plain(facts[1:2], frames=FOLLOW_FRAMES))
        return (*turns, self._plain(facts[len(turns) :], frames=FOLLOW_FRAMES))

    def _follow_other(self) -> tuple[Turn, ...]:
        """Ask who somebody is to the person, then on about that one, who is named no more."""
        hop = self._rng.choice(self._people())
        facts = self._of_other(hop, (1, 2, 3))
        opening = self._plain([hop], NamesEntities(entities=(hop.value,)))
        asked = listing([f"their {self._noun(fact.slot)}" for fact in facts])
        return (opening, self._stating(self._frame(FOLLOW_FRAMES, x=asked), facts))

    def _plain(self, facts: Sequence[Statement], *more: Check, frames: Sequence[str] = QUESTION_FRAMES) -> Turn:
        return self._stating(self._asks_for([fact.slot for fact in facts], frames), facts, *more)

    def _asks_for(self, slots: Sequence[str], frames: Sequence[str] = QUESTION_FRAMES) -> str:
        return self._frame(frames, x=listing([f"your {self._noun(slot)}" for slot in slots]))

    def _premise(self, fact: Statement, wrong: str, needed: tuple[str, ...], check: Check) -> Turn:
        claimed = self._world.text_of(fact.subject, fact.slot, wrong, LANGUAGE)
        question = self._frame(PREMISE_FRAMES, w=claimed, n=self._noun(fact.slot))
        forbidden = (Claim(subject=fact.subject, slot=fact.slot, value=wrong),)
        return Turn(question=question, needed=needed, checks=(check,), forbidden=forbidden)

    def _stating(self, question: str, facts: Sequence[Statement], *more: Check) -> Turn:
        return Turn(question=question, needed=tuple(fact.id for fact in facts), checks=(*_stated(facts), *more))

    def _told(self) -> list[Statement]:
        return [fact for slot, fact in self._facts.items() if slot != "persona"]

    def _some(self, count: int) -> list[Statement]:
        return self._rng.sample(self._told(), count)

    def _people(self) -> list[Statement]:
        return [fact for fact in self._told() if fact.slot in PERSON_SLOTS]

    def _of_other(self, hop: Statement, counts: Sequence[int]) -> list[Statement]:
        theirs = [fact for slot, fact in self._drawn.facts(hop.value).items() if slot != "persona"]
        return self._rng.sample(theirs, self._rng.choice(counts))

    def _noun(self, slot: str) -> str:
        return self._rng.choice(SLOT_NOUNS[slot])

    def _frame(self, pool: Sequence[str], **words: str) -> str:
        return draw_phrasing(self._rng, Split.TEST, pool).format(**words)


def _stated(facts: Sequence[Statement]) -> tuple[StatesFact, ...]:
    return tuple(StatesFact(statement=fact.id) for fact in facts)
