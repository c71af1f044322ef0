"""The tiny vocabulary without the network that speaks it."""

END = 1
FIRST_LETTER = 32


def letter(token: int) -> bytes:
    """Return the bytes of an id: a letter, none for mask and end."""
    return bytes([FIRST_LETTER + token]) if token > END else b""
