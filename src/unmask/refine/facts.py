"""Cuts facts that a card of the prompt has already."""

from collections.abc import Iterator, Sequence
from itertools import takewhile

from unmask.cards import Fact, parse_facts
from unmask.refine.cut import Cut, CutReason
from unmask.types import Message, Role


def repeated_facts(messages: Sequence[Message]) -> Iterator[Cut]:
    """Yield the lines of facts that stand earlier in the prompt, and headings that nothing is left under.

    The first copy always stays, so no fact is lost. What the model said itself is left as it is.
    """
    known: set[Fact] = set()
    for place, message in enumerate(messages):
        if message.role is not Role.ASSISTANT:
            yield from _of_message(place, message.content, known)


def _of_message(place: int, text: str, known: set[Fact]) -> Iterator[Cut]:
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines))]
    spare = _repeated(lines, known)
    for number, line in enumerate(lines):
        if not _is_heading(line):
            continue
        below = list(takewhile(lambda other: lines[other].split()[:1] == ["-"], range(number + 1, len(lines))))
        if below and spare.issuperset(below):
            spare.add(number)
    for number in sorted(spare):
        yield Cut(message=place, start=starts[number], text=lines[number], reason=CutReason.FACT)


def _repeated(lines: Sequence[str], known: set[Fact]) -> set[int]:
    """Return which lines are facts that are known, and get to know the others."""
    found: set[int] = set()
    heading = ""
    for number, line in enumerate(lines):
        if _is_heading(line):
            heading = line
            continue
        # A line alone has no subject: it is read below its heading.
        facts = parse_facts(f"{heading}{'' if heading.endswith(chr(10)) else chr(10)}{line}")
        if facts and facts[0] in known:
            found.add(number)
        known.update(facts)
    return found


def _is_heading(line: str) -> bool:
    words = line.split()
    return len(words) == 2 and words[0] == "#"
