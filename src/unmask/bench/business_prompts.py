"""Prompts as clients send them: the items of the task types, with what such prompts say twice or for nothing."""

from dataclasses import replace
from random import Random

from unmask.cards import parse_facts, render_cards
from unmask.tasks.item import Item
from unmask.types import Message, Role

TASKS = ("lookup", "dialogue", "extract", "arithmetic")
GREETINGS = ("Hello! I have a question.", "Good morning. Thank you in advance.", "안녕하세요. 질문이 있습니다.")
GREETED_SHARE = 0.5
"""Prompts that begin with a greeting."""
AGAIN_SHARE = 0.5
"""Prompts with cards whose facts, or some of them, stand in the last message once more, as retrieval adds them."""
MOST_AGAIN = 8


def redundant(item: Item, seed: int) -> tuple[Message, ...]:
    """Return an item's prompt with redundancy drawn by its digest and a seed; what is asked stays the same."""
    rng = Random(f"{seed}/{item.digest}")
    *earlier, last = item.messages
    text = last.content
    system = "\n".join(message.content for message in earlier if message.role is Role.SYSTEM)
    facts = parse_facts(system) or parse_facts(text)
    if facts and rng.random() < AGAIN_SHARE:
        again = rng.sample(facts, min(len(facts), rng.randint(1, MOST_AGAIN)))
        text = f"{render_cards(again)}\n{text}"
    if rng.random() < GREETED_SHARE:
        text = f"{rng.choice(GREETINGS)}\n{text}"
    return (*earlier, replace(last, content=text))
