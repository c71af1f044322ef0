"""Where an output ends: end token, stop sequence, or ``max_tokens``."""

from collections.abc import Callable
from collections.abc import Sequence as Tokens
from dataclasses import dataclass

from unmask.types import FinishReason

Decode = Callable[[Tokens[int]], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """An end that was reached: how many tokens count, the text, and why."""

    tokens: int
    text: str
    reason: FinishReason


def find_ending(tokens: Tokens[int], *, end: int, limit: int, stop: tuple[str, ...], decode: Decode) -> Ending | None:
    """Return the earliest ending of an output, or nothing if it may go on.

    An end token counts as one token and has no text; a stop sequence has no
    text, and the tokens up to the one that completes it count. Of several stop
    sequences the one that is complete first counts, so that it does not matter
    how many tokens arrive at once.
    """
    within = tokens[:limit]
    length = next((place for place, token in enumerate(within) if token == end), len(within))
    text = decode(within[:length])
    found = [(start + len(sequence), start) for sequence in stop if (start := text.find(sequence)) >= 0]
    if found:
        _, cut = min(found)
        return Ending(tokens=_tokens_until_stop(within, stop, decode), text=text[:cut], reason=FinishReason.STOP)
    if length < len(within):
        return Ending(tokens=length + 1, text=text, reason=FinishReason.STOP)
    if len(within) == limit:
        return Ending(tokens=limit, text=text, reason=FinishReason.LENGTH)
    return None


def _tokens_until_stop(tokens: Tokens[int], stop: tuple[str, ...], decode: Decode) -> int:
    """Return the fewest tokens whose text holds a stop sequence."""
    low, high = 1, len(tokens)
    while low < high:
        middle = (low + high) // 2
        text = decode(tokens[:middle])
        if any(sequence in text for sequence in stop):
            high = middle
        else:
            low = middle + 1
    return low
