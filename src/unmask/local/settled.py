"""Text that may be shown before a request has ended."""

import codecs
from collections.abc import Callable, Sequence

from unmask.sequence import Begun

_Utf8 = codecs.getincrementaldecoder("utf-8")


def settled(text: str, stop: tuple[str, ...]) -> str:
    """Return the part of an unfinished text that no later token can cut off: the start of a stop sequence waits."""
    held = max(
        (
            size
            for sequence in stop
            for size in range(1, min(len(sequence), len(text) + 1))
            if text.endswith(sequence[:size])
        ),
        default=0,
    )
    return text[: len(text) - held]


def pieces(tokens: Sequence[int], token_bytes: Callable[[int], bytes]) -> list[str]:
    """Return a text per token; joined they are the text of all, a character going to the last token it takes."""
    decoder = _Utf8("replace")
    last = len(tokens) - 1
    return [decoder.decode(token_bytes(token), place == last) for place, token in enumerate(tokens)]


def begun_with(tokens: tuple[int, ...], token_bytes: Callable[[int], bytes]) -> Begun:
    """Return what an answer says that begins with tokens."""
    decoder = _Utf8("replace")
    text = decoder.decode(b"".join(map(token_bytes, tokens)))
    return Begun(tokens=tokens, text=text, unfinished=decoder.getstate()[0])
