"""Cuts instructions that were given already, greetings and thanks, and blanks that mean nothing."""

import re
from collections.abc import Iterator, Sequence

from unmask.refine.cut import Cut, CutReason
from unmask.refine.phrases import BOILERPLATE
from unmask.refine.sentences import FENCE, is_card, plain, sentences_of
from unmask.types import Message, Role

SHORTEST_INSTRUCTION = 2
"""Words of a sentence that may count as said already: "Ok." twice may be meant twice."""
_BLANK = re.compile(r"[ \t]+(?=\n)|(?<=\n\n)\n+")


def repeated_instructions(messages: Sequence[Message]) -> Iterator[Cut]:
    """Yield sentences of system messages that a system message has said before, and users' copies of them.

    What users say is otherwise their own: the same line twice may be data.
    """
    known: set[str] = set()
    for place, message in enumerate(messages):
        if message.role is Role.ASSISTANT:
            continue
        for found in sentences_of(message.content):
            said = plain(found.group())
            if is_card(found.group()) or len(said.split()) < SHORTEST_INSTRUCTION:
                continue
            if said in known:
                yield Cut(message=place, start=found.start(), text=found.group(), reason=CutReason.INSTRUCTION)
            elif message.role is Role.SYSTEM:
                known.add(said)


def boilerplate(messages: Sequence[Message]) -> Iterator[Cut]:
    """Yield greetings and thanks of users that stand as sentences of their own."""
    for place, message in enumerate(messages):
        if message.role is not Role.USER:
            continue
        for found in sentences_of(message.content):
            if plain(found.group()) in BOILERPLATE:
                yield Cut(message=place, start=found.start(), text=found.group(), reason=CutReason.BOILERPLATE)


def blanks(messages: Sequence[Message]) -> Iterator[Cut]:
    """Yield blanks at the end of lines, and all but one of several empty lines."""
    for place, message in enumerate(messages):
        if message.role is Role.ASSISTANT or FENCE in message.content:
            continue
        for found in _BLANK.finditer(message.content):
            yield Cut(message=place, start=found.start(), text=found.group(), reason=CutReason.BLANK)
