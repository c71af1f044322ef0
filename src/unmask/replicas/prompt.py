"""A prompt as a router sees it: names of its pages, each of everything up to the page's end."""

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from unmask.backend import Request
from unmask.types import Message

TEXT_PAGE_TOKENS = 32
BYTES_PER_TOKEN = 4
"""Of text whose tokenizer is not known; only the ratio of prompts to one another matters."""
MOST_PAGES = 4_096
"""Pages of a prompt that are looked at; what lies behind them is taken for new."""
_DIGEST = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What decides where a request goes.

    Attributes:
        pages: names of its full pages in order. A name stands for the tenant and all text up to the page's end, so
            that two prompts have as many names in common as they have pages.
        page_tokens: tokens of a page.
        tokens: of the whole prompt, or as many as its text is taken for.
        session: names the tenant's session that it belongs to; empty where the client named none.
        home: what it has in common with those that should go where it goes: its session, else how it begins.
    """

    pages: tuple[bytes, ...]
    page_tokens: int
    tokens: int
    session: bytes
    home: bytes


ReadPrompt = Callable[[Request], Prompt]


def token_reader(encode: Callable[[Sequence[Message]], Sequence[int]], page_tokens: int) -> ReadPrompt:
    """Return what reads prompts by the pages of an engine of our own.

    Args:
        encode: makes the tokens that the engine is given.
        page_tokens: tokens of one of its pages.
    """

    def read(request: Request) -> Prompt:
        tokens = encode(request.messages)
        starts = range(0, len(tokens) - page_tokens + 1, page_tokens)
        pieces = (array("q", tokens[start : start + page_tokens]).tobytes() for start in starts[:MOST_PAGES])
        return _prompt(request, pieces, page_tokens, len(tokens))

    return read


def read_text(request: Request) -> Prompt:
    """Read a prompt whose tokenizer is not known, by its text; all of it counts, roles included."""
    text = b"".join(
        b"%b\0%b\0" % (message.role.value.encode(), message.content.encode("utf-8", "surrogatepass"))
        for message in request.messages
    )
    size = TEXT_PAGE_TOKENS * BYTES_PER_TOKEN
    starts = range(0, len(text) - size + 1, size)
    pieces = (text[start : start + size] for start in starts[:MOST_PAGES])
    return _prompt(request, pieces, TEXT_PAGE_TOKENS, max(1, len(text) // BYTES_PER_TOKEN))


def _prompt(request: Request, pieces: Iterable[bytes], page_tokens: int, tokens: int) -> Prompt:
    tenant = _name(b"tenant", request.tenant.encode("utf-8", "surrogatepass"))
    session = request.session.encode("utf-8", "surrogatepass")
    first = request.messages[0].content.encode("utf-8", "surrogatepass") if request.messages else b""
    pages: list[bytes] = []
    last = tenant
    for piece in pieces:
        last = _name(last, piece)
        pages.append(last)
    return Prompt(
        pages=tuple(pages),
        page_tokens=page_tokens,
        tokens=tokens,
        session=_name(tenant, b"session\0" + session) if session else b"",
        home=_name(tenant, b"home\0" + (session or first)),
    )


def _name(before: bytes, content: bytes) -> bytes:
    return blake2b(content, key=before, digest_size=_DIGEST).digest()
