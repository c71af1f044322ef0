"""Characters that answer from their fact card, in their own manner.

The system message is the card and ``You are NAME.``; the last user message asks;
the answer states what is asked in the first person, each fact in one of many
phrasings drawn uniformly. Five facts fill four sentences: the last two are joined
by ``, and``. Which axis wins where drawn axes disagree: see `dialogue_draft`.
"""

from random import Random

from unmask.cards import Fact, render_cards, render_triples
from unmask.tasks.dialogue_check import check_answer, verify_answer
from unmask.tasks.dialogue_draft import KINDS, SPEAKER, Draft, draw_draft, draw_plan
from unmask.tasks.dialogue_grammar import write_answer
from unmask.tasks.item import CheckResult, Difficulty, Item, Split, split_of
from unmask.tasks.names import draw_name
from unmask.types import Message, Role


class Dialogue:
    """Character dialogue; facts, hops, turns, card facts and kind are the difficulty axes.

    ``kind`` is an index into `KINDS`. ``facts`` is what the reference states (a
    correction or an admission counts as one); ``card_facts`` is the drawn size,
    which a full card of long names stays under to fit the prompt.
    """

    name = "dialogue"

    def generate(self, rng: Random, split: Split) -> Item:
        """Draw one item of ``split``."""
        draft = draw_draft(rng, split, draw_plan(rng))
        rest = draft.canonical()
        while True:
            speaker = draw_name(rng, split)
            canonical = f"dialogue {speaker}\n{rest}"
            if speaker not in draft.names and split_of(canonical) is split:
                return self._item(rng, draft, speaker, canonical)

    def _item(self, rng: Random, draft: Draft, speaker: str, canonical: str) -> Item:
        plan = draft.plan
        axes = (
            ("facts", plan.facts),
            ("hops", plan.hops),
            ("turns", plan.turns),
            ("card_facts", plan.card_facts),
            ("kind", KINDS.index(plan.kind)),
        )
        return Item(
            task=self.name,
            messages=_messages(rng, draft, speaker),
            answer=write_answer(rng, draft.persona, draft.turns[-1].claims, closing=plan.closing),
            difficulty=Difficulty(axes=axes),
            canonical=canonical,
            accepted=draft.turns[-1].claims,
        )

    def check(self, item: Item, text: str) -> CheckResult:
        """Pass when ``text`` states exactly what is asked, in any phrasing and the right manner."""
        return check_answer(item, text)

    def verify(self, messages: tuple[Message, ...], text: str) -> CheckResult:
        """Pass when every sentence of ``text`` holds on the request's facts."""
        return verify_answer(messages, text)


def _messages(rng: Random, draft: Draft, speaker: str) -> tuple[Message, ...]:
    """Render the card, the earlier turns with answers, and the last question."""
    facts = [
        Fact(subject=speaker, slot=fact.slot, value=fact.value, denied=fact.denied) if fact.subject == SPEAKER else fact
        for fact in draft.facts
    ]
    render = render_triples if draft.plan.triples else render_cards
    messages = [Message(role=Role.SYSTEM, content=f"{render(facts)}\nYou are {speaker}.")]
    for turn in draft.turns[:-1]:
        answer = write_answer(rng, draft.persona, turn.claims, closing=False)
        messages.append(Message(role=Role.USER, content=turn.question))
        messages.append(Message(role=Role.ASSISTANT, content=answer))
    messages.append(Message(role=Role.USER, content=draft.turns[-1].question))
    return tuple(messages)
