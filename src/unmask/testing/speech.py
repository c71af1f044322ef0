"""Events of a generation that says what it is told to, with every token a given number of bytes long."""

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import replace

from unmask.backend import (
    Alternative,
    CommitEvent,
    DoneEvent,
    DraftPiece,
    Event,
    ExitRecord,
    Generation,
    Request,
    StepEvent,
    TokenLogprob,
)
from unmask.testing.builders import make_generation, make_usage

STEPS = 2
"""Steps of every canvas."""


def speak(
    request: Request,
    text: str,
    *,
    sizes: Sequence[int] = (1,),
    canvas: int = 4,
    exit: ExitRecord | None = None,  # noqa: A002 - as in `Generation`
) -> list[Event]:
    """Return the events of a request that is answered with a text.

    Args:
        request: says whether there are snapshots and log-probabilities.
        text: what is said, and not cut.
        sizes: bytes of the tokens, repeated as often as it takes; characters are split where they fall.
        canvas: tokens of a canvas.
        exit: where it says that the request's exit rule was met.
    """
    tokens = list(_cut(text.encode(), sizes))
    events: list[Event] = []
    logprobs: tuple[TokenLogprob, ...] = ()
    canvases = [tokens[place : place + canvas] for place in range(0, len(tokens), canvas)] or [[]]
    # Keeps the first bytes of a character until the others have come.
    decoder = codecs.getincrementaldecoder("utf-8")()
    for number, words in enumerate(canvases):
        if request.snapshots:
            events += [_step(number, step, words) for step in range(1, STEPS + 1)]
        new = () if request.top_logprobs is None else tuple(_logprob(word, request.top_logprobs) for word in words)
        events.append(CommitEvent(text=decoder.decode(b"".join(words)), logprobs=new))
        logprobs += new
    generation = replace(_generation(request, text, tokens, len(canvases), logprobs), exit=exit)
    events.append(DoneEvent(generation=generation))
    return events


def _cut(data: bytes, sizes: Sequence[int]) -> Iterator[bytes]:
    place, number = 0, 0
    while place < len(data):
        size = sizes[number % len(sizes)]
        yield data[place : place + size]
        place, number = place + size, number + 1


def _step(canvas: int, step: int, words: Sequence[bytes]) -> StepEvent:
    """Show one more half fixed at each step; of the rest the first is guessed and the others are masked."""
    fixed = len(words) * step // STEPS
    pieces = tuple(
        DraftPiece(text=word.decode(errors="replace") if place <= fixed else "", fixed=place < fixed)
        for place, word in enumerate(words)
    )
    return StepEvent(canvas=canvas, step=step, max_steps=STEPS, pieces=pieces)


def _logprob(word: bytes, alternatives: int) -> TokenLogprob:
    top = tuple(Alternative(data=word + bytes([number]), logprob=-float(number)) for number in range(alternatives))
    return TokenLogprob(chosen=Alternative(data=word, logprob=-0.25 * len(word)), top=top)


def _generation(
    request: Request, text: str, tokens: Sequence[bytes], canvases: int, logprobs: tuple[TokenLogprob, ...]
) -> Generation:
    usage = make_usage(
        prompt_tokens=sum(len(message.content.split()) for message in request.messages),
        completion_tokens=len(tokens) + 1,
        steps_allocated=STEPS * canvases,
        steps_used=STEPS * canvases,
        canvases=canvases,
    )
    return replace(make_generation(text, usage=usage), tokens=tuple(range(len(tokens) + 1)), logprobs=logprobs)
