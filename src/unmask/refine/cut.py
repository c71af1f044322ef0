"""Cuts: what was taken out of a prompt, and where it stood, so that the prompt can be had again."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from unmask.types import Message, Role


class CutReason(StrEnum):
    """Why something was cut.

    ``fact``: a card has it already. ``instruction``: it was said already. ``boilerplate``: a greeting or thanks.
    ``blank``: blanks at the end of lines, empty lines in a row. ``turn``: an earlier exchange that the last question
    does not go back to.
    """

    FACT = "fact"
    INSTRUCTION = "instruction"
    BOILERPLATE = "boilerplate"
    BLANK = "blank"
    TURN = "turn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A piece of one message, or all of it.

    Attributes:
        message: its place in the prompt as it was, from 0.
        start: where in the message's text the piece began; 0 for a whole message.
        whole: the role of a message that was cut as a whole; ``None`` for a piece.
    """

    message: int
    start: int
    text: str
    reason: CutReason
    whole: Role | None = None

    @property
    def end(self) -> int:
        """Where in the message's text the piece ended."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refined:
    """A prompt with its cuts made, and these, by message and place."""

    messages: tuple[Message, ...]
    cuts: tuple[Cut, ...] = ()


def without(messages: Sequence[Message], cuts: Iterable[Cut]) -> Refined:
    """Return a prompt without its cuts; pieces of one message may not overlap."""
    ordered = tuple(sorted(cuts, key=lambda cut: (cut.message, cut.start)))
    kept: list[Message] = []
    for place, message in enumerate(messages):
        own = [cut for cut in ordered if cut.message == place]
        if any(cut.whole is not None for cut in own):
            continue
        text, start = "", 0
        for cut in own:
            assert cut.start >= start, "pieces of one message do not overlap"
            text += message.content[start : cut.start]
            start = cut.end
        kept.append(replace(message, content=text + message.content[start:]))
    return Refined(messages=tuple(kept), cuts=ordered)


def restored(refined: Refined) -> tuple[Message, ...]:
    """Return the prompt as it was before its cuts."""
    messages = list(refined.messages)
    for cut in refined.cuts:
        if cut.whole is not None:
            messages.insert(cut.message, Message(role=cut.whole, content=cut.text))
            continue
        text = messages[cut.message].content
        messages[cut.message] = replace(messages[cut.message], content=text[: cut.start] + cut.text + text[cut.start :])
    return tuple(messages)
