"""Makes of a failed answer the draft of its next attempt: what is at fault is open, the rest stands.

Reopening the least certain tokens of a finished text and denoising them again in the context of all others is what
remasking decoders do step by step (Wang et al. 2025, ReMDM); here it is done once, where a verifier points.
"""

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from unmask.backend import Generation, TokenLogprob
from unmask.tasks.span import Span
from unmask.types import Draft

NEIGHBOURS = 4
"""Tokens around the span at fault that are reopened with it: the least confident ones."""
REACH = 8
"""How many tokens away from the span a neighbour may be."""
SHARE = 0.25
"""Share of a canvas's tokens, the least confident, that is reopened where nobody can say what is at fault."""

_Utf8 = codecs.getincrementaldecoder("utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A token of the answer: the characters it has a part in, and its log-probability."""

    start: int
    end: int
    confidence: float


def reopened(generation: Generation, canvas_length: int, span: Span | None, *, to_end: bool = False) -> Draft | None:
    """Return the draft of a further attempt; nothing where the answer's tokens cannot be told from its text.

    The span's tokens and its least confident neighbours in the same canvas are open, and so is everything behind a
    span that reaches the end of the text: a text that ends in the wrong place has no end yet. Canvases before stand,
    those behind are generated again.

    Args:
        generation: what failed, with log-probabilities.
        canvas_length: tokens of each of its canvases.
        span: what is at fault, in characters of its text; without one, its least confident tokens are reopened.
        to_end: whether everything from the span on is opened.
    """
    places = list(_places(generation.logprobs))
    if not places or len(places) > len(generation.tokens):
        return None
    faulty = _least_confident(places, canvas_length) if span is None else _covered(places, span)
    canvas = faulty[0] // canvas_length
    first = canvas * canvas_length
    tokens = generation.tokens[first : first + canvas_length]
    opened = {place for place in faulty if place < first + canvas_length}
    if span is not None:
        opened |= _neighbours(places, opened, range(first, min(first + canvas_length, len(places))))
        if to_end or span.end >= len(generation.text):
            opened |= set(range(min(faulty), first + canvas_length))
    kept = {place for place in range(len(tokens)) if first + place not in opened}
    return Draft(
        tokens=tuple(token if place in kept else None for place, token in enumerate(tokens)),
        frozen=frozenset(kept),
        before=generation.tokens[:first],
    )


def _places(logprobs: Sequence[TokenLogprob]) -> Iterator[_Place]:
    decoder = _Utf8("replace")
    at = 0
    for token in logprobs:
        whole = len(decoder.decode(token.chosen.data))
        waiting = bool(decoder.getstate()[0])
        yield _Place(start=at, end=at + whole + waiting, confidence=token.chosen.logprob)
        at += whole


def _covered(places: Sequence[_Place], span: Span) -> list[int]:
    found = [number for number, place in enumerate(places) if place.start < span.end and place.end > span.start]
    # What is missing at the end of a text is nowhere in it.
    return found or [len(places) - 1]


def _least_confident(places: Sequence[_Place], canvas_length: int) -> list[int]:
    """Return the least confident share of the canvas that holds the least confident token."""
    least = min(range(len(places)), key=lambda number: places[number].confidence)
    first = least // canvas_length * canvas_length
    canvas = range(first, min(first + canvas_length, len(places)))
    ranked = sorted(canvas, key=lambda number: (places[number].confidence, number))
    return sorted(ranked[: max(1, round(len(canvas) * SHARE))])


def _neighbours(places: Sequence[_Place], opened: set[int], canvas: range) -> set[int]:
    """Return the least confident tokens near the open ones, of several alike the nearest."""
    low, high = min(opened), max(opened)
    near = (number for number in canvas if number not in opened and low - REACH <= number <= high + REACH)
    ranked = sorted(near, key=lambda number: (places[number].confidence, max(low - number, number - high), number))
    return set(ranked[:NEIGHBOURS])
