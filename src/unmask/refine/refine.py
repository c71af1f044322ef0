"""Refines a prompt."""

from collections.abc import Iterable, Sequence

from unmask.cards import Fact, parse_facts
from unmask.refine.cut import Cut, CutReason, Refined, without
from unmask.refine.facts import repeated_facts
from unmask.refine.prose import blanks, boilerplate, repeated_instructions
from unmask.refine.turns import stale_turns
from unmask.types import Message

VERSION = 1
"""Rises whenever the same prompt is cut in another way, for what is known of the quality of one is not of another."""


def refine(messages: Sequence[Message]) -> Refined:
    """Cut out of a prompt what it says twice or says nothing with; `restored` puts it back.

    The same prompt is always cut in the same way. Every fact of it stays, once; what the model has said is cut as a
    whole exchange or not at all; no message is emptied.
    """
    turns = list(stale_turns(messages))
    gone = {cut.message for cut in turns}
    pieces = [
        cut
        for found in (repeated_facts, repeated_instructions, boilerplate, blanks)
        for cut in found(messages)
        if cut.message not in gone
    ]
    cuts = [*turns, *_apart(pieces)]
    made = without(messages, (cut for cut in cuts if cut.whole is not None or not _empties(messages, cuts, cut)))
    # A cut may make a heading, or a fact, of what was none: such a prompt stays as it is.
    return made if _facts(made.messages) == _facts(messages) else Refined(messages=tuple(messages))


def _facts(messages: Sequence[Message]) -> frozenset[Fact]:
    return frozenset(fact for message in messages for fact in parse_facts(message.content))


def _apart(pieces: Iterable[Cut]) -> list[Cut]:
    """Return pieces of which none overlaps with an earlier one."""
    kept: list[Cut] = []
    for piece in pieces:
        if not any(
            other.message == piece.message and other.start < piece.end and piece.start < other.end for other in kept
        ):
            kept.append(piece)
    return kept


def _empties(messages: Sequence[Message], cuts: Sequence[Cut], cut: Cut) -> bool:
    """Tell whether nothing but a card, or nothing at all, would be left of the message that a piece is of."""
    own = [other for other in cuts if other.message == cut.message and other.reason is not CutReason.BLANK]
    left = without((messages[cut.message],), (_at_start(other) for other in own)).messages[0].content
    return not left.strip()


def _at_start(cut: Cut) -> Cut:
    return Cut(message=0, start=cut.start, text=cut.text, reason=cut.reason)
