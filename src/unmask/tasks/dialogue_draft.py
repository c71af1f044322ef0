"""Draws what a dialogue item is about: its facts, its questions and the claims its answer must make.

The speaker is the placeholder `SPEAKER` here. Its name is drawn last, again and
again until the canonical form falls into the wanted split: redrawing one name is
a hundred times cheaper than redrawing the item.

Precedence where drawn axes disagree, strongest first:

1. ``kind``: a cross question has two hops and states at least two facts (the hop
   and a value); every other kind has one hop, whatever the hops axis says; a
   follow-up has at least two turns; a false premise and an absent slot ask at most
   three and four facts, that one included.
2. ``card_facts``: 64 facts leave room for one turn (two for a follow-up), and a
   card is cut where it would not fit the prompt limit.
3. ``turns``: every earlier turn takes one fact of the card.
4. ``facts``: cut to what the card has room for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random

from unmask.cards import SLOTS, Fact
from unmask.tasks.dialogue_phrases import (
    ASKED_SLOTS,
    FOLLOW_FRAMES,
    PERSON_SLOTS,
    PREMISE_FRAMES,
    QUESTION_FRAMES,
    SLOT_NOUNS,
    SLOT_WORDS,
)
from unmask.tasks.item import Split
from unmask.tasks.names import draw_name
from unmask.tasks.phrasing import draw_phrasing
from unmask.tasks.spec import Axis, load_spec

SPEAKER = "@"
KINDS = ("plain", "cross", "false_premise", "absent", "follow_up")
MAX_PROMPT_COST = 540
MAX_TURN_COST = 40
MOST_FACTS = {"plain": 5, "cross": 4, "false_premise": 3, "absent": 4, "follow_up": 5}
MOST_FACTS_ABOUT_OTHERS = 3
FULL_CARD = 64
MISCONCEPTION_SHARE = 0.5
STRAY_MISCONCEPTION_SHARE = 0.25
REUSED_NAME_SHARE = 0.4
FACTS_PER_OTHER = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The position drawn on every axis, after precedence."""

    kind: str
    facts: int
    turns: int
    card_facts: int
    closing: bool
    triples: bool

    @property
    def hops(self) -> int:
        """Return the hops the kind fixes."""
        return 2 if self.kind == "cross" else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A question and the claims of its answer."""

    question: str
    claims: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An item without its speaker's name."""

    plan: Plan
    persona: str
    facts: tuple[Fact, ...]
    turns: tuple[Turn, ...]
    names: frozenset[str]

    def canonical(self) -> str:
        """Return all that identifies the item but the speaker's name; answers and layout do not."""
        facts = ";".join(sorted(f"{fact.subject} {fact.claim()}" for fact in self.facts))
        asked = ";".join(f"{turn.question} {' '.join(turn.claims)}" for turn in self.turns)
        return f"{facts}\n{asked}"


@cache
def _axis(name: str) -> Axis:
    return load_spec().axis("dialogue", name)


def draw_plan(rng: Random) -> Plan:
    """Draw every axis and settle the disagreements."""
    kind = _axis("kind").draw(rng)
    card_facts = _axis("card_facts").draw_int(rng)
    turns = _axis("turns").draw_int(rng)
    if card_facts == FULL_CARD:
        turns = 1
    if kind == "follow_up":
        turns = max(turns, 2)
    facts = min(_axis("facts").draw_int(rng), MOST_FACTS[kind], card_facts - turns)
    return Plan(
        kind=kind,
        facts=max(facts, 2) if kind == "cross" else facts,
        turns=turns,
        card_facts=card_facts,
        closing=_axis("closing").draw(rng) == "true",
        triples=_axis("format").draw(rng) == "triples",
    )


class Board:
    """The facts of a draft while it is drawn."""

    def __init__(self, rng: Random, split: Split) -> None:
        self.rng = rng
        self.split = split
        self.facts: list[Fact] = []
        self.names: dict[str, None] = {}
        self.taken: set[tuple[str, str]] = set()

    def new_name(self) -> str:
        """Draw a name that the draft does not hold yet."""
        while True:
            name = draw_name(self.rng, self.split)
            if name not in self.names:
                self.names[name] = None
                return name

    def new_value(self, slot: str, *, reuse: bool = False) -> str:
        """Draw a value; reuse makes it a name that the draft holds, at times."""
        if slot in SLOT_WORDS:
            return self.rng.choice(SLOT_WORDS[slot])
        if reuse and self.names and self.rng.random() < REUSED_NAME_SHARE:
            return self.rng.choice(list(self.names))
        return self.new_name()

    def add(self, subject: str, slot: str, *, reuse: bool = False) -> Fact:
        """Add a fact whose slot is still free."""
        value = self.new_value(slot, reuse=reuse)
        while value == subject:
            value = self.new_value(slot)
        fact = Fact(subject=subject, slot=slot, value=value)
        self.facts.append(fact)
        self.taken.add((subject, slot))
        return fact

    def free_slots(self, subject: str, count: int) -> list[str]:
        """Draw slots that the subject has no fact of."""
        free = [slot for slot in ASKED_SLOTS if (subject, slot) not in self.taken]
        return self.rng.sample(free, min(count, len(free)))

    def wrong_value(self, fact: Fact) -> str:
        """Draw a value of the slot that no fact of the subject has."""
        own = {other.value for other in self.facts if other.subject == fact.subject}
        while True:
            value = self.new_value(fact.slot)
            if value not in own:
                return value

    def noun(self, slot: str) -> str:
        """Draw one of the slot's nouns."""
        return self.rng.choice(SLOT_NOUNS[slot])

    def ask(self, pool: Sequence[str], **words: str) -> str:
        """Fill a question frame that the split may use."""
        return draw_phrasing(self.rng, self.split, pool).format(**words)


def draw_draft(rng: Random, split: Split, plan: Plan) -> Draft:
    """Draw facts, questions and claims for a plan."""
    board = Board(rng, split)
    persona = board.add(SPEAKER, "persona").value
    turns = _TURNS[plan.kind](board, plan)
    while len(turns) < plan.turns:
        turns.insert(0, plain_turn(board, 1))
    needed = len(board.facts)
    _fill(board, plan)
    facts = _cut(board.facts, needed, MAX_PROMPT_COST - MAX_TURN_COST * len(turns), triples=plan.triples)
    rng.shuffle(facts)
    return Draft(
        plan=replace(plan, facts=len(turns[-1].claims)),
        persona=persona,
        facts=tuple(facts),
        turns=tuple(turns),
        names=frozenset(board.names),
    )


def listing(parts: Sequence[str]) -> str:
    """Join parts as ``a, b and c``."""
    return " and ".join((", ".join(parts[:-1]), parts[-1])) if len(parts) > 1 else parts[0]


def _first(fact: Fact) -> str:
    return f"first|{fact.slot}|{fact.value}"


def _third(fact: Fact) -> str:
    return f"third|{fact.subject}|{fact.slot}|{fact.value}"


def plain_turn(board: Board, count: int, frames: Sequence[str] = QUESTION_FRAMES) -> Turn:
    """Ask the speaker for slots of its own card."""
    facts = [board.add(SPEAKER, slot) for slot in board.free_slots(SPEAKER, count)]
    asked = listing([f"your {board.noun(fact.slot)}" for fact in facts])
    return Turn(question=board.ask(frames, x=asked), claims=tuple(map(_first, facts)))


def _plain(board: Board, plan: Plan) -> list[Turn]:
    return [plain_turn(board, plan.facts)]


def _cross(board: Board, plan: Plan) -> list[Turn]:
    hop = board.add(SPEAKER, board.rng.choice(PERSON_SLOTS))
    facts = [board.add(hop.value, slot) for slot in board.free_slots(hop.value, plan.facts - 1)]
    nouns = listing([f"the {board.noun(fact.slot)}" for fact in facts])
    asked = f"{nouns} of your {board.noun(hop.slot)}"
    return [Turn(question=board.ask(QUESTION_FRAMES, x=asked), claims=(_first(hop), *map(_third, facts)))]


def _false_premise(board: Board, plan: Plan) -> list[Turn]:
    slot = board.rng.choice(ASKED_SLOTS)
    fact = board.add(SPEAKER, slot)
    rest = plain_turn(board, plan.facts - 1) if plan.facts > 1 else None
    wrong = board.wrong_value(fact)
    room = plan.card_facts - len(board.facts) - (plan.turns - 1)
    if room > 0 and board.rng.random() < MISCONCEPTION_SHARE:
        board.facts.append(Fact(subject=SPEAKER, slot=slot, value=wrong, denied=True))
    question = board.ask(PREMISE_FRAMES, w=wrong, n=board.noun(slot))
    claim = f"correct|{wrong}|{slot}|{fact.value}"
    if rest is None:
        return [Turn(question=question, claims=(claim,))]
    return [Turn(question=f"{question} {rest.question}", claims=(claim, *rest.claims))]


def _absent(board: Board, plan: Plan) -> list[Turn]:
    slots = board.free_slots(SPEAKER, plan.facts)
    lacking = board.rng.choice(slots)
    board.taken.add((SPEAKER, lacking))
    claims = tuple(f"absent|{slot}" if slot == lacking else _first(board.add(SPEAKER, slot)) for slot in slots)
    asked = listing([f"your {board.noun(slot)}" for slot in slots])
    return [Turn(question=board.ask(QUESTION_FRAMES, x=asked), claims=claims)]


def _follow_up(board: Board, plan: Plan) -> list[Turn]:
    """Ask on: for more slots of the speaker, or for slots of the person just named."""
    if board.rng.random() < 0.5:
        return [plain_turn(board, 1), plain_turn(board, plan.facts, FOLLOW_FRAMES)]
    person = board.add(SPEAKER, board.rng.choice(PERSON_SLOTS))
    opening = board.ask(QUESTION_FRAMES, x=f"your {board.noun(person.slot)}")
    count = min(plan.facts, MOST_FACTS_ABOUT_OTHERS)
    facts = [board.add(person.value, slot) for slot in board.free_slots(person.value, count)]
    asked = listing([f"their {board.noun(fact.slot)}" for fact in facts])
    question = board.ask(FOLLOW_FRAMES, x=asked)
    return [Turn(question=opening, claims=(_first(person),)), Turn(question=question, claims=tuple(map(_third, facts)))]


_TURNS = {
    "plain": _plain,
    "cross": _cross,
    "false_premise": _false_premise,
    "absent": _absent,
    "follow_up": _follow_up,
}


def _fill(board: Board, plan: Plan) -> None:
    """Add distractors: a stray misconception, more of the speaker, other people, some of them already named."""
    rng = board.rng
    own = [fact for fact in board.facts if fact.subject == SPEAKER and fact.slot != "persona" and not fact.denied]
    room = plan.card_facts - len(board.facts)
    if room > 0 and own and rng.random() < STRAY_MISCONCEPTION_SHARE and plan.kind != "false_premise":
        fact = rng.choice(own)
        board.facts.append(Fact(subject=SPEAKER, slot=fact.slot, value=board.wrong_value(fact), denied=True))
    for slot in board.free_slots(SPEAKER, rng.randint(0, 3)):
        if len(board.facts) < plan.card_facts:
            # A reused name could be the wrong one of a misconception, and so come true.
            board.add(SPEAKER, slot)
    room = plan.card_facts - len(board.facts)
    named = [fact.value for fact in board.facts if fact.slot in PERSON_SLOTS and not fact.denied]
    others = list(dict.fromkeys(named))[: max(1, room // FACTS_PER_OTHER)]
    while len(others) * FACTS_PER_OTHER < room:
        others.append(board.new_name())
    while len(board.facts) < plan.card_facts:
        subject, slot = rng.choice(others), rng.choice(SLOTS)
        if (subject, slot) not in board.taken:
            board.add(subject, slot, reuse=True)


def name_cost(name: str) -> int:
    """Estimate a name's tokens, the blank before it included."""
    return 1 + (len(name) + 1) // 2


def _cut(facts: list[Fact], needed: int, limit: int, *, triples: bool) -> list[Fact]:
    """Drop the last distractors until the card fits the prompt limit."""
    total = 0
    seen: set[str] = set()
    for index, fact in enumerate(facts):
        total += 3 + (name_cost(fact.value) if fact.slot not in SLOT_WORDS else 1) + fact.denied
        if triples or fact.subject not in seen:
            total += name_cost(fact.subject)
            seen.add(fact.subject)
        if total > limit and index >= needed:
            return facts[:index]
    return facts
