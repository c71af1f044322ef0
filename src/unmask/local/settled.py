"""Text that may be shown before a request has ended."""

from collections.abc import Callable, Sequence

REPLACEMENT = "\ufffd"


def settled(text: str, stop: tuple[str, ...]) -> str:
    """Return the part of an unfinished text that no later token can change or cut off.

    The first bytes of a character may yet become one, and the beginning of a
    stop sequence may yet be completed.
    """
    whole = text.rstrip(REPLACEMENT)
    held = max(
        (
            size
            for sequence in stop
            for size in range(1, min(len(sequence), len(whole) + 1))
            if whole.endswith(sequence[:size])
        ),
        default=0,
    )
    return whole[: len(whole) - held]


def pieces(tokens: Sequence[int], decode: Callable[[Sequence[int]], str]) -> list[str]:
    """Return a text per token; joined they are the text of all, a character going to the last token it takes."""
    texts: list[str] = []
    shown = ""
    for count in range(1, len(tokens) + 1):
        text = decode(tokens[:count])
        if count < len(tokens):
            text = text.rstrip(REPLACEMENT)
        texts.append(text[len(shown) :])
        shown = text
    return texts
