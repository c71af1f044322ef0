"""The verifier of facts: an answer states nothing that the cards of its request do not hold."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from unmask.cards import SLOTS, Fact, parse_facts
from unmask.tasks.failure import FailureKind
from unmask.tasks.item import PASSED, CheckResult, failed
from unmask.tasks.span import Span
from unmask.tasks.verifier import LONGEST_ANSWER
from unmask.types import Message

_WORD = re.compile(r"\w+")
_NOT = "not"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Passes an answer that keeps to the fact cards of its request, and says what it must and not what it must not.

    A claim is a subject of the cards, a slot and a value, one word after the other, ``not`` before the slot denying
    it. Claims in other words are not seen; texts that have to be there, or must not, are found in any words around
    them, whatever their case.

    Attributes:
        required: texts that have to be there.
        forbidden: texts that must not be.
    """

    required: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()

    def judge(self, messages: tuple[Message, ...], text: str) -> CheckResult:
        """Compare every claim with the cards."""
        if len(text) > LONGEST_ANSWER:
            return failed("longer than what is looked at", FailureKind.FORMAT)
        cards = facts_of(messages)
        for claim, span in _claims(text, cards):
            if claim not in cards:
                return failed(f"{claim.subject} {claim.claim()} is not on the cards", FailureKind.FACT, span)
        lacking = next((wanted for wanted in self.required if _find(wanted, text) is None), None)
        if lacking is not None:
            return failed(f"{lacking[:64]!r} is not said", FailureKind.FACT)
        for barred in self.forbidden:
            found = _find(barred, text)
            if found is not None:
                return failed(f"{barred[:64]!r} is said", FailureKind.FACT, found)
        return PASSED


def facts_of(messages: tuple[Message, ...]) -> frozenset[Fact]:
    """Return the facts on the cards of a request."""
    return frozenset(fact for message in messages for fact in parse_facts(message.content))


def _claims(text: str, cards: frozenset[Fact]) -> Iterator[tuple[Fact, Span]]:
    subjects = {fact.subject for fact in cards}
    words = list(_WORD.finditer(text))
    for place, word in enumerate(words):
        if word[0] not in subjects:
            continue
        following = words[place + 1 : place + 4]
        denied = bool(following) and following[0][0] == _NOT
        rest = following[denied : denied + 2]
        if len(rest) < 2 or rest[0][0] not in SLOTS:
            continue
        slot, value = rest
        yield (
            Fact(subject=word[0], slot=slot[0], value=value[0], denied=denied),
            Span(start=word.start(), end=value.end()),
        )


def _find(wanted: str, text: str) -> Span | None:
    """Return where a text stands as words of their own, whatever its case."""
    found = re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", text, re.IGNORECASE)
    return None if found is None else Span(start=found.start(), end=found.end())
