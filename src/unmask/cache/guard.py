"""Tells whether two texts may have one answer, where vectors cannot: they barely see order, numbers and a *not*.

The comparison is strict. All words count in their order, with case and inflection, save a short list of those that
never matter and of ways to ask for a value (`unmask.cache.words`); so do numbers, signs and operators. What it lets
through asks the same; much that asks the same it does not let through.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from unmask.cache.words import (
    ASKING,
    CONTRACTIONS,
    FRAME,
    FRAME_PARTICLES,
    KOREAN_FRAME,
    NEGATIONS,
    NEGATIVE_STEMS,
    NUMBERS,
    SOFT,
    SUBJECT_PARTICLES,
)
from unmask.knowledge.korean import Tail, tail_of
from unmask.knowledge.script import normal

_SENTENCE = re.compile(r"[^.!?。！？\n]*(?:[.!?。！？](?=\S)[^.!?。！？\n]*)*[.!?。！？\n]*")
_TOKEN = re.compile(
    r"(?P<number>(?<![\w.])[-−]?\d+(?:\.\d+)?(?!\w|[:/.,-]\d))"
    r"|(?P<word>\w+(?:[.'’_:/-]\w+|,(?=\d)(?<=\d,)\w+)*)"
    r"|(?P<sign>[^\w\s.,;:!?。！？\"“”‘’'…])"
)
_MINUS = "\N{MINUS SIGN}"
_RAISED = re.compile("[\u00b2\u00b3\u00b9\u2070-\u207f]")
_LOWERED = re.compile("[\u2080-\u209c]")
"""Exponents and indices, which normalisation would make digits of the number before them."""
_MARKS_THAT_COUNT = (
    (re.compile(r"(?<=[\d)])!|!(?=[\w=(])"), " \u00ac "),  # 5! and !=, which no sentence ends with
    (re.compile(r"(?<=\d)['’](?!\w)"), " \u2032 "),  # 5' and 5", of lengths and angles
    (re.compile(r"(?<=\d)[\"”]"), " \u2033 "),
)
_ARTICLES = frozenset({"a", "an", "the"})
_NAMED = re.compile(r"\s+[\w\"“‘'(]")
"""What follows an article; one that is followed by nothing, or by a sign, is a name."""


class Difference(StrEnum):
    """What keeps two texts from having one answer; the first that is found."""

    NUMBERS = "numbers"
    NEGATION = "negation"
    WORDS = "words"
    ORDER = "order"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Token:
    """A number, word or sign. The first word of a sentence may begin with a capital for that reason alone."""

    text: str
    is_first: bool = False

    def same(self, other: "_Token") -> bool:
        if self.text == other.text:
            return True
        return (self.is_first or other.is_first) and _begun(self.text) == _begun(other.text)


Tokens: TypeAlias = tuple[_Token, ...]


def tokens_of(text: str) -> Tokens:
    """Return what of a text counts, in its order."""
    text = _LOWERED.sub(lambda found: f"_{found[0]}", _RAISED.sub(lambda found: f"^{found[0]} ", text))
    text = normal(text)
    for pattern, full in (*_MARKS_THAT_COUNT, *CONTRACTIONS):
        text = pattern.sub(full, text)
    return tuple(token for sentence in _SENTENCE.findall(text) for token in _of_sentence(sentence))


def difference(one: Tokens, other: Tokens) -> Difference | None:
    """Return what keeps two texts apart, or nothing where they may have one answer."""
    if len(one) == len(other) and all(first.same(second) for first, second in zip(one, other, strict=True)):
        return None
    if _numbers(one) != _numbers(other):
        return Difference.NUMBERS
    if _negations(one) != _negations(other):
        return Difference.NEGATION
    return Difference.ORDER if _have_same_words(one, other) else Difference.WORDS


def _of_sentence(sentence: str) -> Iterator[_Token]:
    plain = " ".join(sentence.split()).rstrip(".!?。！？ ")
    asked = _asked_for(plain)
    yield from _tokens(plain) if asked is None else _tokens(asked, begins=False)
    # Said, and asked whether it is so, are the same words in Korean and, in speech, in English.
    if asked is None and sentence.rstrip().endswith(("?", "？")) and not _is_question(plain):
        yield _Token(text="?")


def _tokens(sentence: str, *, begins: bool = True) -> Iterator[_Token]:
    is_first = begins
    for found in _TOKEN.finditer(sentence):
        text = found[0]
        match found.lastgroup:
            case "number":
                yield _Token(text=text.replace(_MINUS, "-"))
            case "word" if _is_soft(text, sentence[found.end() :], is_first=is_first):
                pass
            case "word":
                yield _Token(text=NUMBERS.get(text.lower(), text), is_first=is_first)
            case _:
                yield _Token(text=text)
        is_first = False


def _is_soft(word: str, behind: str, *, is_first: bool) -> bool:
    """Tell whether a word never matters where it stands; *a* may be a name too: *plan A*, *a + b*."""
    if word.lower() not in _ARTICLES:
        return word.lower() in SOFT
    return (word.islower() or is_first) and _NAMED.match(behind) is not None


def _asked_for(plain: str) -> str | None:
    """Return what a sentence asks for that only asks for a value; nothing where it is of another kind."""
    frame = FRAME.match(plain)
    if frame is not None:
        return plain[frame.end() :]
    found = KOREAN_FRAME.search(plain)
    if found is None or not found.start():
        return None
    # Who is told to tell is another one than what is to be told.
    particles = FRAME_PARTICLES if found["ask"] is None else (*FRAME_PARTICLES, *SUBJECT_PARTICLES)
    return _without_particle(plain[: found.start()], particles)


def _is_question(plain: str) -> bool:
    return ASKING.match(plain) is not None or any(not found[0].isascii() for found in ASKING.finditer(plain))


def _without_particle(text: str, particles: Sequence[str]) -> str:
    """Take the particle off what is asked for; one that does not fit is no particle, and neither is a whole word."""
    stem, particle = text[:-1], text[-1]
    if particle in particles and stem and not stem[-1].isspace() and tail_of(stem, particle) is Tail.FITTING:
        return stem
    return text


def _have_same_words(one: Tokens, other: Tokens) -> bool:
    """Tell whether one text is the other in another order, with capitals where a sentence begins or as they are."""
    if sorted(token.text for token in one) == sorted(token.text for token in other):
        return True
    return sorted(map(_inside, one)) == sorted(map(_inside, other))


def _inside(token: _Token) -> str:
    return _begun(token.text) if token.is_first else token.text


def _numbers(tokens: Sequence[_Token]) -> list[str]:
    return [token.text for token in tokens if any(character.isdigit() for character in token.text)]


def _negations(tokens: Sequence[_Token]) -> int:
    lowered = [_lowered(token.text) for token in tokens]
    return sum(word in NEGATIONS or any(stem in word for stem in NEGATIVE_STEMS) for word in lowered)


def _lowered(text: str) -> str:
    return text.casefold()


def _begun(text: str) -> str:
    """Return a word without the capital that it may have for standing first."""
    return text[:1].casefold() + text[1:]
