"""Prefixes of prompts that come from another engine, or go to one."""

from collections.abc import Sequence
from itertools import takewhile
from typing import Protocol

from unmask.prefix import PrefixError
from unmask.routing import PrefillEnd
from unmask.sched.pages import PagePool

PART_PAGES = 64
"""Most pages that are copied between two ticks, so that nobody's step waits for a long prompt."""


class PageMemory(Protocol):
    """What pages hold; see `unmask.engine.kv_pages.KvPages`."""

    @property
    def layout(self) -> str:
        """What pages have to be like to be written."""
        ...

    @property
    def page_bytes(self) -> int:
        """Bytes of a page."""
        ...

    def read(self, pages: Sequence[int]) -> bytes:
        """Return what pages hold, page after page."""
        ...

    def write(self, pages: Sequence[int], tokens: Sequence[int], data: bytes) -> None:
        """Put it into pages."""
        ...


class PrefixStore:
    """Reads and writes kept pages by their names; belongs to the thread that ticks, between two ticks.

    Args:
        pool: knows which page has which name, as the prefix cache gave them.
        memory: what the pages hold.
        page_size: tokens of a page.
    """

    def __init__(self, pool: PagePool, memory: PageMemory, page_size: int) -> None:
        self._pool = pool
        self._memory = memory
        self.page_size = page_size

    @property
    def layout(self) -> str:
        """What another engine's pages have to be like."""
        return self._memory.layout

    @property
    def page_bytes(self) -> int:
        """Bytes of a page."""
        return self._memory.page_bytes

    def known(self, names: Sequence[bytes]) -> int:
        """Return how many of the first pages are there."""
        return len(self._found(names))

    def read(self, names: Sequence[bytes]) -> bytes:
        """Return what the first pages hold, as many as are there; nothing where none is."""
        pages = self._found(names)
        return self._memory.read(pages) if pages else b""

    def check_room(self, names: Sequence[bytes]) -> None:
        """Refuse pages that find no place.

        Raises:
            PrefixError: there is no room for those that are not there; nothing running gives any up.
        """
        held = [page for name in names if (page := self._pool.find(name)) is not None]
        missing = len(names) - len(held)
        available = self._pool.available - sum(map(self._pool.is_kept, held))
        if missing > available:
            raise PrefixError(PrefillEnd.NO_ROOM, f"{missing} pages are needed, and {available} are free")

    def write(self, names: Sequence[bytes], tokens: Sequence[int], data: bytes) -> None:
        """Keep pages under their names; those that are there stay as they are.

        Args:
            names: one a page, each following the one before.
            tokens: of all pages.
            data: what `read` gave of them.

        Raises:
            PrefixError: there is no room for them, or there are more or fewer bytes than theirs.
        """
        size = self.page_bytes
        if len(data) != len(names) * size:
            raise PrefixError(PrefillEnd.DAMAGED, f"{len(data)} bytes, allowed: {size} for each of {len(names)} pages")
        self.check_room(names)
        pages = [self._pool.find(name) for name in names]
        # Held first: a page of the same prompt must not be given up for another of it.
        held = [page for page in pages if page is not None]
        for page in held:
            self._pool.share(page)
        places = [place for place, page in enumerate(pages) if page is None]
        fresh = self._pool.allocate(len(places))
        try:
            if fresh:
                parts = b"".join(data[place * size : (place + 1) * size] for place in places)
                self._memory.write(fresh, self._tokens_of(tokens, places), parts)
            for page, place in zip(fresh, places, strict=True):
                self._pool.remember(page, names[place])
        finally:
            new = iter(fresh)
            # In order, so that the last page is the first to be given up.
            self._pool.release([next(new) if page is None else page for page in pages])

    def _found(self, names: Sequence[bytes]) -> list[int]:
        found = (self._pool.find(name) for name in names)
        return [page for page in takewhile(lambda page: page is not None, found) if page is not None]

    def _tokens_of(self, tokens: Sequence[int], places: Sequence[int]) -> list[int]:
        return [token for place in places for token in tokens[place * self.page_size : (place + 1) * self.page_size]]
