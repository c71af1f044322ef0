"""Behaviour of `unmask.refine`: what is cut, what never is, and that all of it can be put back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.cards import parse_facts
from unmask.refine.cut import CutReason, restored
from unmask.refine.refine import refine
from unmask.types import Message, Role

CARD = "# Kaloren\n- persona gruff\n- home Miven\n- not rival Tulven"
SYSTEM = f"{CARD}\nYou are Kaloren."


def chat(*contents: str, system: str = "") -> tuple[Message, ...]:
    """Return a chat in which the user has the first word and the last."""
    turns = [
        Message(role=Role.ASSISTANT if place % 2 else Role.USER, content=content)
        for place, content in enumerate(contents)
    ]
    return (*([Message(role=Role.SYSTEM, content=system)] if system else []), *turns)


def texts(messages: tuple[Message, ...]) -> list[str]:
    """Return what messages are after refinement."""
    return [message.content for message in refine(messages).messages]


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (f"{CARD}\nWhat is your town?", "What is your town?"),
        ("# Kaloren\n- home Miven\n- home Velka\nWhere?", "# Kaloren\n- home Velka\nWhere?"),
        ("Kaloren home Miven\nKaloren era dawn\nWhen?", "Kaloren era dawn\nWhen?"),
        ("Hello! Please name your town.", "Please name your town."),
        ("안녕하세요. 고향이 어디입니까? 미리 감사합니다.", "고향이 어디입니까? "),
        ("You are Kaloren.\nWhere do you live?", "Where do you live?"),
        ("One.  \n\n\n\nTwo.", "One.\n\nTwo."),
        # Left alone: a fact denied is another fact, a greeting is all there is, lines of a user may be data.
        ("Kaloren rival Tulven\nTrue?", "Kaloren rival Tulven\nTrue?"),
        ("Hello!", "Hello!"),
        ("안녕하세요", "안녕하세요"),
        ("Sort:\n3 1\n3 1", "Sort:\n3 1\n3 1"),
        ("```\nHello!\n\n\n\nx\n```", "```\nHello!\n\n\n\nx\n```"),
    ],
)
def test_what_says_nothing_new_is_cut(said: str, left: str) -> None:
    """From the last message of a chat with a card; the card stays as it is."""
    assert texts(chat(said, system=SYSTEM)) == [SYSTEM, left]


def test_an_instruction_is_given_once() -> None:
    """The first time, whatever its case and blanks."""
    system = "Answer briefly. You are Kaloren. answer   briefly! 짧게 답하세요. 짧게 답하세요."

    assert texts(chat("Go on.", system=system))[0] == "Answer briefly. You are Kaloren. 짧게 답하세요. "


@pytest.mark.parametrize(
    ("question", "is_stale"),
    [
        ("Please name your craft.", True),
        ("당신의 직업은 무엇입니까?", True),
        ("And what of their craft?", False),
        ("Please name your town once more.", False),
        ("Please name your town.", False),
        ("그 사람의 직업은 무엇입니까?", False),
        ("Yes.", False),
    ],
)
def test_an_exchange_that_nothing_goes_back_to_is_cut(question: str, is_stale: bool) -> None:
    """A question that may refer to it, shares its words, or cannot stand for itself keeps it."""
    earlier = ("Tell me your town.", "I live in Miven.")

    assert texts(chat(*earlier, question)) == ([question] if is_stale else [*earlier, question])


def test_an_exchange_with_facts_stays() -> None:
    """They may be what the answer rests on."""
    said = ("Kaloren home Miven\nKnow it.", "I do.", "Please name your craft.")

    assert texts(chat(*said)) == list(said)


def test_cuts_say_why() -> None:
    """Each with its reason, by message and place."""
    found = refine(chat(f"Hello! {CARD[10:]}\n{CARD}\nWhere?  \n", system=SYSTEM))

    assert {cut.reason for cut in found.cuts} == {CutReason.BOILERPLATE, CutReason.FACT, CutReason.BLANK}


PIECES = st.sampled_from((
    CARD, "# Kaloren", "- home Miven", "Kaloren home Miven", "Hello!", "안녕하세요.", "Answer briefly.", "Where? ",
    "\n", "\n\n\n", " ", "And now?", "```", "Please name your craft.", "You are Kaloren.", "감사합니다. ", "3 1", "…?!",
)) | st.text("aA가힣\n #-.!?`", max_size=6)  # fmt: skip
CONTENTS = st.lists(PIECES, max_size=6).map("".join)
PROMPTS = st.lists(st.builds(Message, role=st.sampled_from(Role), content=CONTENTS), max_size=5).map(tuple)


@given(PROMPTS)
def test_every_prompt_can_be_had_again(messages: tuple[Message, ...]) -> None:
    """To the letter; nothing is added, no fact is lost, and no message is emptied."""
    found = refine(messages)

    assert restored(found) == messages
    assert {fact for one in messages for fact in parse_facts(one.content)} == {
        fact for one in found.messages for fact in parse_facts(one.content)
    }
    emptied = [one for one in found.messages if not one.content.strip()]
    assert len(emptied) <= len([one for one in messages if not one.content.strip()])
    assert refine(messages) == found
