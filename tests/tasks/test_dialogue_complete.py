"""Behaviour of `unmask.tasks.dialogue_complete`."""

from random import Random

import pytest

from unmask.tasks.dialogue import Dialogue
from unmask.tasks.dialogue_complete import is_complete
from unmask.tasks.item import Split
from unmask.types import Message, Role

CARD = "# Kaloren\n- persona gruff\n- home Miven\n- ally Velka\n# Velka\n- craft weaving\nYou are Kaloren."


def asked(question: str) -> tuple[Message, ...]:
    """Return a request to a character."""
    return (Message(role=Role.SYSTEM, content=CARD), Message(role=Role.USER, content=question))


@pytest.mark.parametrize(
    ("question", "text", "holds"),
    [
        ("What is your town?", "Hmph. I live in Miven.", True),
        ("What is your town?", "I live in Miven.", False),
        ("What is your town?", "Hmph. I live in Velka.", False),
        ("What is your town?", "Hmph.", False),
        ("What is your town and your friend?", "Hmph. I live in Miven.", False),
        ("What is your town and your friend?", "Hmph. I live in Miven. My ally is Velka.", True),
        ("What is the trade of your ally?", "Bah. My ally is Velka.", False),
        ("What is the trade of your ally?", "Bah. My ally is Velka. Velka is good at weaving.", True),
        ("Is your town Tulven?", "Hmph. It is not Tulven.", False),
        ("Is your town Tulven?", "Hmph. It is not Tulven. I live in Miven.", True),
        ("What is your mood?", "Hmph. I know nothing of my mood.", True),
        ("고향이 어디입니까?", "Hmph. I live in Miven.", False),
        ("Who are you?", "Hmph. I live in Miven.", False),
    ],
)
def test_a_point_is_made_once_all_that_was_asked_is_said(question: str, text: str, holds: bool) -> None:
    """In the manner of the persona, and by the card; a question that names nothing is never found answered."""
    assert is_complete(asked(question), text) is holds


def test_without_a_card_nothing_is_complete() -> None:
    """Nobody speaks."""
    assert not is_complete((Message(role=Role.USER, content="What is your town?"),), "I live in Miven.")


def test_it_never_cuts_a_right_answer_short() -> None:
    """The earliest beginning of a reference answer that is found complete says all that the checker wants."""
    task, rng, stopped = Dialogue(), Random(5), 0
    for _ in range(80):
        item = task.generate(rng, Split.TRAIN)
        words = item.answer.split(" ")
        beginnings = (" ".join(words[:count]) for count in range(1, len(words) + 1))
        found = next((text for text in beginnings if text[-1] in ".!?" and is_complete(item.messages, text)), None)
        if found is not None:
            stopped += 1
            assert task.check(item, found).passed, (item.messages[-1].content, item.answer, found)

    assert stopped > 25
