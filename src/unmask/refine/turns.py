"""Cuts earlier exchanges that the last question does not go back to."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from unmask.cards import parse_facts
from unmask.refine.cut import Cut, CutReason
from unmask.refine.phrases import REFERRING
from unmask.types import Message, Role

LEAST_WORDS = 3
"""Words of a question that may stand for itself; a shorter one answers or goes on."""
COMMON = frozenset({
    "what", "which", "who", "whose", "when", "where", "tell", "please", "name", "speak", "remember", "your", "yours",
    "mine", "have", "does", "will", "would", "could", "should", "with", "from", "into", "know",
})  # fmt: skip
"""Words of four letters and more that questions of every kind have."""
_WORD = re.compile(r"[^\W_]+")
_SHORTEST = 4
_STEM = 2
"""Syllables by which a Korean word is known whatever particle follows."""


def stale_turns(messages: Sequence[Message]) -> Iterator[Cut]:
    """Yield questions and their answers that nothing in the last question refers to and that hold no facts.

    A question that refers to anything at all, shares a word with an earlier exchange, or is too short to stand for
    itself keeps what may be meant.
    """
    last = _last_question(messages)
    if last is None:
        return
    asked = _words(messages[last].content)
    if len(asked) < LEAST_WORDS or not REFERRING.isdisjoint(asked):
        return
    topics = _topics(asked)
    for place in range(last - 1):
        question, answer = messages[place : place + 2]
        if (question.role, answer.role) != (Role.USER, Role.ASSISTANT):
            continue
        text = f"{question.content}\n{answer.content}"
        if parse_facts(text) or not topics.isdisjoint(_topics(_words(text))):
            continue
        for offset, message in enumerate((question, answer)):
            yield Cut(message=place + offset, start=0, text=message.content, reason=CutReason.TURN, whole=message.role)


def _last_question(messages: Sequence[Message]) -> int | None:
    """Return where the last question is, if it ends the prompt."""
    return len(messages) - 1 if messages and messages[-1].role is Role.USER else None


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFC", text).casefold())


def _topics(words: Sequence[str]) -> set[str]:
    hangul = {word[:_STEM] for word in words if "가" <= word[0] <= "힣" and len(word) >= _STEM}
    return hangul | {word for word in words if not "가" <= word[0] <= "힣" and len(word) >= _SHORTEST} - COMMON
