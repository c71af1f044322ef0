"""Finds sentences in prose, English and Korean, with where they stand."""

import re
import unicodedata
from collections.abc import Iterator

from unmask.cards import parse_facts

FENCE = "```"
_SENTENCE = re.compile(r"[^.!?。！？\n]*(?:[.!?。！？]+(?=\s|$)|(?=\n|$)|[.!?。！？]+)[ \t]*\n?")


def sentences_of(text: str) -> Iterator[re.Match[str]]:
    """Yield the sentences of a text in order, what follows up to the next one included; together they are the text.

    A line end closes a sentence. A text with a fence of code yields nothing: lines of code are no sentences.
    """
    if FENCE in text:
        return
    for found in _SENTENCE.finditer(text):
        if found.group():
            yield found


def plain(sentence: str) -> str:
    """Return a sentence as it is compared: composed, in small letters, without marks around it, one blank a gap."""
    words = unicodedata.normalize("NFC", sentence).casefold().split()
    return " ".join(words).strip(".!?,;:~ 。！？")


def is_card(line: str) -> bool:
    """Tell whether a line is part of a fact card: a heading or a fact."""
    words = line.split()
    return (len(words) == 2 and words[0] == "#") or words[:1] == ["-"] or bool(parse_facts(line))
