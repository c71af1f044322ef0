"""Keys and values of a prompt's first pages, as they go from one engine to another."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from unmask.errors import UnmaskError
from unmask.routing import PrefillEnd
from unmask.types import Precision


class PrefixError(UnmaskError):
    """Keys and values cannot be made, or not be taken; whoever wanted them runs the prompt itself.

    Attributes:
        end: what is wrong.
    """

    def __init__(self, end: PrefillEnd, message: str) -> None:
        super().__init__(message)
        self.args = (end, message)
        self.end = end


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixKind:
    """What two engines have to have in common for one to take what the other has made.

    Attributes:
        model: digest of the weights.
        precision: that they are run in.
        layout: how keys and values lie in a page, its size among it.
    """

    model: str
    precision: Precision | None
    layout: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptPrefix:
    """The beginning of a prompt that fills whole pages.

    Attributes:
        tokens: all of these pages.
        names: of the pages in order; each stands for its tenant and all tokens up to its end.
        cached: how many of the tokens are kept already.
    """

    tokens: tuple[int, ...]
    names: tuple[bytes, ...]
    cached: int

    @property
    def missing(self) -> int:
        """Tokens that would have to be run."""
        return len(self.tokens) - self.cached


@dataclass(frozen=True, slots=True, kw_only=True)
class KvPrefix:
    """Keys and values of a prompt's first pages. They name no tenant: whoever takes them knows for whom.

    Attributes:
        tokens: whose keys and values they are.
        cached: how many of the tokens were kept where this was made; the others were run for it.
        parts: the pages' bytes, page after page, some pages a part.
        digest: of all of the above.
    """

    kind: PrefixKind
    tokens: tuple[int, ...]
    cached: int
    parts: tuple[bytes, ...]
    digest: bytes

    @property
    def size(self) -> int:
        """Bytes of the pages."""
        return sum(map(len, self.parts))


def sealed(kind: PrefixKind, tokens: tuple[int, ...], cached: int, parts: tuple[bytes, ...]) -> KvPrefix:
    """Return keys and values with their digest."""
    digest = _digest(kind, tokens, cached, parts)
    return KvPrefix(kind=kind, tokens=tokens, cached=cached, parts=parts, digest=digest)


def check_prefix(prefix: KvPrefix, here: PrefixKind, wanted: tuple[int, ...]) -> None:
    """Refuse keys and values that are not those of a prompt's beginning on the engine here.

    Args:
        prefix: what was sent.
        here: what this engine is.
        wanted: the prompt's whole pages.

    Raises:
        PrefixError: naming what is different.
    """
    kind = prefix.kind
    for end, found, allowed in (
        (PrefillEnd.MODEL, kind.model, here.model),
        (PrefillEnd.PRECISION, kind.precision, here.precision),
        (PrefillEnd.LAYOUT, kind.layout, here.layout),
    ):
        if found != allowed:
            raise PrefixError(end, f"keys and values are of {end} {found}, allowed: {allowed}")
    if prefix.tokens != wanted[: len(prefix.tokens)]:
        raise PrefixError(PrefillEnd.TOKENS, "keys and values are of other tokens than the prompt's")
    if prefix.digest != _digest(kind, prefix.tokens, prefix.cached, prefix.parts):
        raise PrefixError(PrefillEnd.DAMAGED, "keys and values are not those that were sent: their digest differs")


def _digest(kind: PrefixKind, tokens: Sequence[int], cached: int, parts: Sequence[bytes]) -> bytes:
    found = blake2b(digest_size=16)
    # Lengths first, so that no two lists of parts have the same bytes.
    texts = (kind.model, str(kind.precision), kind.layout)
    for piece in (*(text.encode() for text in texts), array("q", tokens).tobytes()):
        found.update(b"%d:" % len(piece) + piece)
    found.update(b"%d:%d:" % (cached, len(parts)))
    for part in parts:
        found.update(b"%d:" % len(part))
        found.update(part)
    return found.digest()
