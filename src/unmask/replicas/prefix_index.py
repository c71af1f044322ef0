"""Which pages of prompts a replica is believed to hold."""

from collections import OrderedDict
from collections.abc import Sequence


class PrefixIndex:
    """Names of pages, the least recently used given up first.

    It holds as many as the replica has pages, and is used in the order in which the replica uses its own, so that what
    it has forgotten the replica has likely given up as well. Names begin with the tenant's, so nobody's pages are ever
    found for anybody else.

    Args:
        limit: most pages.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pages: OrderedDict[bytes, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._pages)

    @property
    def is_full(self) -> bool:
        """Whether a further page pushes another out."""
        return len(self) >= self._limit

    def match(self, pages: Sequence[bytes]) -> int:
        """Return how many of a prompt's first pages are there; none behind a missing one is of use."""
        return next((count for count, page in enumerate(pages) if page not in self._pages), len(pages))

    def use(self, pages: Sequence[bytes]) -> None:
        """Take note that a prompt is run there; its last page first, as a beginning outlives what follows it."""
        for page in reversed(pages[: self._limit]):
            self._pages[page] = None
            self._pages.move_to_end(page)
        while len(self._pages) > self._limit:
            self._pages.popitem(last=False)

    def clear(self) -> None:
        """Forget all: the replica was lost."""
        self._pages.clear()
