"""Pages are handed out, shared, kept for their content, and never lost."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from unmask.sched.pages import PagePool

# Few, so that pages often hold what others hold.
CONTENTS = st.sampled_from((b"a", b"b", b"c", b"d"))


class PoolAgainstModel(RuleBasedStateMachine):
    """Drives a pool beside lists that say what it should hold."""

    held = Bundle("held")

    @initialize(count=st.integers(1, 6))
    def start(self, count: int) -> None:
        """Begin with blank pages."""
        self.pool = PagePool(count)
        self.references = dict.fromkeys(range(count), 0)
        self.blank = list(range(count))
        self.kept: list[int] = []
        self.content: dict[int, bytes] = {}

    @rule(target=held, share=st.floats(0, 1))
    def allocate(self, share: float) -> list[int]:
        """Blank pages go first, in the order they became blank, then kept ones, least recently used first."""
        count = int(share * self.pool.available)
        expected = (self.blank + self.kept)[:count]
        pages = self.pool.allocate(count)

        assert pages == expected
        for page in pages:
            if page in self.kept:
                del self.content[page]
            self.references[page] = 1
        self.blank = [page for page in self.blank if page not in pages]
        self.kept = [page for page in self.kept if page not in pages]
        return pages

    @rule(target=held, content=CONTENTS)
    def share(self, content: bytes) -> list[int]:
        """A page found by its content gains a reference, whether in use or kept."""
        holders = [page for page, found in self.content.items() if found == content]
        page = self.pool.find(content)

        assert page == (holders[0] if holders else None)
        if page is None:
            return []
        assert self.pool.is_kept(page) == (page in self.kept)
        self.pool.share(page)
        self.references[page] += 1
        self.kept = [other for other in self.kept if other != page]
        return [page]

    @rule(pages=held, content=CONTENTS)
    def remember(self, pages: list[int], content: bytes) -> None:
        """A page in use takes a content once, and a content one page."""
        if not pages or self.references[pages[0]] == 0:
            return
        self.pool.remember(pages[0], content)
        if content not in self.content.values():
            self.content.setdefault(pages[0], content)

    @rule(pages=held)
    def forget(self, pages: list[int]) -> None:
        """A page in use is no longer found, and what else holds its content still is."""
        if not all(self.references[page] for page in pages):
            return
        self.pool.forget(pages)
        for page in pages:
            self.content.pop(page, None)

    @rule(pages=consumes(held))
    def release(self, pages: list[int]) -> None:
        """Pages without references are kept where their content is known, last page first, else blank."""
        self.pool.release(pages)
        for page in reversed(pages):
            self.references[page] -= 1
            if self.references[page] == 0:
                (self.kept if page in self.content else self.blank).append(page)

    @invariant()
    def nothing_is_lost(self) -> None:
        """Used and available pages are all there are."""
        if hasattr(self, "pool"):
            assert self.pool.available == len(self.blank) + len(self.kept)
            assert self.pool.used == sum(count > 0 for count in self.references.values())


TestPoolAgainstModel = PoolAgainstModel.TestCase
TestPoolAgainstModel.settings = settings(max_examples=40, stateful_step_count=40, deadline=None, derandomize=True)


def test_more_than_there_is_cannot_be_allocated() -> None:
    """Asking for more than is available is a mistake of the caller's."""
    pool = PagePool(2)

    with pytest.raises(AssertionError, match="3 pages asked for, 2 available"):
        pool.allocate(3)


def test_a_page_cannot_be_released_twice() -> None:
    """A second release is a mistake, not a page handed to two sequences."""
    pool = PagePool(1)
    pages = pool.allocate(1)
    pool.release(pages)

    with pytest.raises(AssertionError, match="released twice"):
        pool.release(pages)


def test_a_prefix_outlives_what_continues_it() -> None:
    """Of a released chain the last page is taken first, so that its beginning can still be found."""
    pool = PagePool(3)
    pages = pool.allocate(3)
    for page, content in zip(pages, (b"1", b"2", b"3"), strict=True):
        pool.remember(page, content)
    pool.release(pages)
    pool.allocate(1)

    assert [pool.find(content) is not None for content in (b"1", b"2", b"3")] == [True, True, False]


def test_the_least_recently_used_goes_first() -> None:
    """A kept page that was shared in between outlives one that was not."""
    pool = PagePool(2)
    first, second = pool.allocate(2)
    pool.remember(first, b"1")
    pool.remember(second, b"2")
    pool.release([first])
    pool.release([second])
    pool.share(first)
    pool.release([first])
    pool.allocate(1)

    assert (pool.find(b"1"), pool.find(b"2")) == (first, None)
