"""KV pages: handed out, counted, and kept for their content until the room is needed."""

from collections import OrderedDict, deque


class PagePool:
    """Reference counts of a fixed number of pages, and the pages whose content may serve again.

    A page is *used* (references > 0), *kept* (no references, content known by
    its hash) or *blank*. Allocation takes blank pages first, then the kept page
    least recently used.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._references = [0] * count
        self._blank = deque(range(count))
        self._kept: OrderedDict[int, None] = OrderedDict()
        self._hash_of: dict[int, bytes] = {}
        self._page_of: dict[bytes, int] = {}

    @property
    def available(self) -> int:
        """Pages that could be allocated now."""
        return len(self._blank) + len(self._kept)

    @property
    def used(self) -> int:
        """Pages with at least one reference."""
        return self.count - self.available

    def find(self, content: bytes) -> int | None:
        """Return the page that holds a content, or nothing."""
        return self._page_of.get(content)

    def is_kept(self, page: int) -> bool:
        """Tell whether a page has content and no references."""
        return page in self._kept

    def share(self, page: int) -> None:
        """Add a reference to a page found by content."""
        if self._references[page] == 0:
            del self._kept[page]
        self._references[page] += 1

    def allocate(self, count: int) -> list[int]:
        """Hand out pages with one reference each; the caller has asked `available` before."""
        assert count <= self.available, f"{count} pages asked for, {self.available} available"
        return [self._take() for _ in range(count)]

    def release(self, pages: list[int]) -> None:
        """Drop one reference to each page, the last page first: a prefix outlives what continues it."""
        for page in reversed(pages):
            assert self._references[page] > 0, f"page {page} released twice"
            self._references[page] -= 1
            if self._references[page] == 0:
                if page in self._hash_of:
                    self._kept[page] = None
                else:
                    self._blank.append(page)

    def remember(self, page: int, content: bytes) -> None:
        """Make a full page findable, unless another page already holds the same content."""
        if content not in self._page_of and page not in self._hash_of:
            self._page_of[content] = page
            self._hash_of[page] = content

    def forget(self, pages: list[int]) -> None:
        """Let nobody find these pages, all of them in use, by their content any more."""
        for page in pages:
            assert self._references[page] > 0, f"page {page} is not in use"
            content = self._hash_of.pop(page, None)
            if content is not None:
                del self._page_of[content]

    def _take(self) -> int:
        if self._blank:
            page = self._blank.popleft()
        else:
            page, _ = self._kept.popitem(last=False)
            del self._page_of[self._hash_of.pop(page)]
        self._references[page] = 1
        return page
