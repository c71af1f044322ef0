"""Prefix cache: finds pages that already hold a prompt's beginning.

A page's content is named by a hash over the hash of the page before it and its
tokens (as vLLM does), started from the tenant's name, so that no tenant can
learn from timing what another one has asked.
"""

import hashlib
from array import array
from collections.abc import Sequence as Tokens

from unmask.sched.pages import PagePool
from unmask.sequence import Sequence


def first_hash(tenant: str) -> bytes:
    """Return the start of a tenant's hash chains."""
    return hashlib.blake2b(tenant.encode("utf-8", "surrogatepass"), digest_size=16, person=b"unmask-prefix").digest()


def next_hash(previous: bytes, tokens: Tokens[int]) -> bytes:
    """Return the hash of a page that follows ``previous``."""
    return hashlib.blake2b(previous + array("q", tokens).tobytes(), digest_size=16).digest()


def page_names(tenant: str, tokens: Tokens[int], page_size: int) -> list[bytes]:
    """Return the hashes of the full pages of a tenant's tokens."""
    names: list[bytes] = []
    content = first_hash(tenant)
    for first in range(0, len(tokens) - page_size + 1, page_size):
        content = next_hash(content, tokens[first : first + page_size])
        names.append(content)
    return names


class PrefixCache:
    """Matches prompts against kept pages and registers pages as they fill."""

    def __init__(self, pool: PagePool, page_size: int, *, enabled: bool) -> None:
        self._pool = pool
        self._page_size = page_size
        self._enabled = enabled

    def match(self, sequence: Sequence) -> tuple[list[int], bytes]:
        """Return the pages of the longest known prefix and the hash of the last; takes no references."""
        content = first_hash(sequence.submission.tenant)
        pages: list[int] = []
        if not self._enabled:
            return pages, content
        prompt = sequence.submission.prompt
        # Decoding draws from the last prompt token's logits, so that token must be run.
        usable = len(prompt) - sequence.submission.mode.is_causal
        for first in range(0, usable - self._page_size + 1, self._page_size):
            following = next_hash(content, prompt[first : first + self._page_size])
            page = self._pool.find(following)
            if page is None:
                break
            pages.append(page)
            content = following
        return pages, content

    def register(self, sequence: Sequence) -> None:
        """Make the pages that ``sequence`` has filled since the last call findable."""
        if not self._enabled:
            return
        full = sequence.committed // self._page_size
        if full <= sequence.hashed_pages:
            return
        tokens = sequence.tokens
        for index in range(sequence.hashed_pages, full):
            part = tokens[index * self._page_size : (index + 1) * self._page_size]
            sequence.page_hash = next_hash(sequence.page_hash, part)
            self._pool.remember(sequence.pages[index], sequence.page_hash)
        sequence.hashed_pages = full

    def forget(self, sequence: Sequence) -> None:
        """Make the pages of ``sequence`` findable no more; those who share them keep them."""
        self._pool.forget(sequence.pages)
