"""What kind of question a line of text asks, by its first telling word."""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType

MOST_WORDS = 24
"""Words of a line that are looked at; a question says early what it asks."""


class QuestionKind(IntEnum):
    """What is asked for; the numbers are those in difficulty models, so they never change their meaning."""

    OTHER = 0
    WHAT = 1
    WHO = 2
    WHERE = 3
    WHEN = 4
    WHICH = 5
    HOW = 6
    WHY = 7
    WHETHER = 8
    TELL = 9
    FOLLOW_UP = 10
    COMMAND = 11


_WORDS: Mapping[str, QuestionKind] = MappingProxyType(
    {
        word: kind
        for kind, words in (
            (QuestionKind.WHAT, "what what's"),
            (QuestionKind.WHO, "who whom whose who's"),
            (QuestionKind.WHERE, "where where's"),
            (QuestionKind.WHEN, "when"),
            (QuestionKind.WHICH, "which"),
            (QuestionKind.HOW, "how"),
            (QuestionKind.WHY, "why"),
            (QuestionKind.WHETHER, "is are was were does did has have they"),
            (QuestionKind.TELL, "tell name speak say describe explain recall remember"),
            (QuestionKind.FOLLOW_UP, "and also then"),
            (QuestionKind.COMMAND, "sort order put add sum compute fill complete extract read return write give start"),
        )
        for word in words.split()
    }
)
_STEMS = (
    ("무엇", QuestionKind.WHAT),
    ("무슨", QuestionKind.WHAT),
    ("뭐", QuestionKind.WHAT),
    ("누구", QuestionKind.WHO),
    ("누가", QuestionKind.WHO),
    ("어디", QuestionKind.WHERE),
    ("언제", QuestionKind.WHEN),
    ("어느", QuestionKind.WHICH),
    ("어떤", QuestionKind.WHICH),
    ("어떻게", QuestionKind.HOW),
    ("얼마", QuestionKind.HOW),
    ("몇", QuestionKind.HOW),
    ("왜", QuestionKind.WHY),
    ("말해", QuestionKind.TELL),
    ("알려", QuestionKind.TELL),
    ("정렬", QuestionKind.COMMAND),
    ("더해", QuestionKind.COMMAND),
    ("채워", QuestionKind.COMMAND),
    ("추출", QuestionKind.COMMAND),
    ("그리고", QuestionKind.FOLLOW_UP),
)
"""Korean words carry endings, so their stems are looked for."""


def kind_of(line: str, words: list[str]) -> QuestionKind:
    """Return what kind of question a line is; ``words`` are its own, in lower case."""
    for word in words[:MOST_WORDS]:
        kind = _WORDS.get(word)
        if kind is not None:
            return kind
    if not line.isascii():
        for stem, kind in _STEMS:
            if stem in line:
                return kind
    return QuestionKind.OTHER
