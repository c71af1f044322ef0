"""Tells of the beginning of a dialogue answer whether the character has made its point."""

import re
from collections import Counter

from unmask.cards import parse_facts
from unmask.tasks.dialogue_check import read_request, verify_answer
from unmask.tasks.dialogue_grammar import read_answer
from unmask.tasks.dialogue_phrases import MANNERS, SLOT_NOUNS
from unmask.types import Message

_SLOTS = {noun: slot for slot, nouns in SLOT_NOUNS.items() for noun in nouns}

_WORD = re.compile(r"[a-z]+")


def is_complete(messages: tuple[Message, ...], text: str) -> bool:
    """Tell whether a text says all that the last question asks for, holds on the facts, and shows its manner.

    From the request alone: a slot that the question names has to be spoken of as often as it is named, whatever is
    said of it, and everything said has to be on the card. The manner has shown where the answer began with an opening
    of its persona; without one its closing is waited for. A question that names no slot is never found answered.
    """
    request = read_request(messages)
    if request is None:
        return False
    asked = _asked(request.question)
    if not asked or not _shows_manner(request.persona, text):
        return False
    told = Counter(_told(claims, asked) for claims in read_answer(text, request.persona).claims)
    return not asked - told and verify_answer(messages, text).passed


def _asked(question: str) -> Counter[str]:
    """Return how often each slot is named, but in facts that came with the question."""
    lines = (line for line in question.lower().splitlines() if line[:1] not in {"#", "-"} and not parse_facts(line))
    return Counter(_SLOTS[word] for line in lines for word in _WORD.findall(line) if word in _SLOTS)


def _shows_manner(persona: str, text: str) -> bool:
    manner = MANNERS.get(persona)
    return manner is None or any(text.startswith(f"{opening} ") for opening in manner.openings)


def _told(claims: frozenset[str], asked: Counter[str]) -> str:
    """Return the slot that a sentence speaks of; of several readings one that is asked for."""
    slots = sorted(map(_slot, claims))
    return next((slot for slot in slots if slot in asked), slots[0])


def _slot(claim: str) -> str:
    match claim.split("|"):
        case ["first" | "absent", slot, *_] | ["third", _, slot, _]:
            return slot
        case _:
            return ""
