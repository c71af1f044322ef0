"""Behaviour of `unmask.core.prefixes`."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.core.prefixes import PrefixStore
from unmask.prefix import PrefixError
from unmask.routing import PrefillEnd
from unmask.sched.pages import PagePool
from unmask.sched.prefix import page_names

SIZE, PAGES = 4, 6


class Memory:
    """Pages of one byte a token: what was written there last."""

    layout = "bytes"
    page_bytes = SIZE

    def __init__(self) -> None:
        self.pages: dict[int, bytes] = {}
        self.error: Exception | None = None

    def read(self, pages: Sequence[int]) -> bytes:
        """Return their bytes."""
        return b"".join(self.pages[page] for page in pages)

    def write(self, pages: Sequence[int], tokens: Sequence[int], data: bytes) -> None:
        """Keep them, and see that they are those of the tokens."""
        if self.error is not None:
            raise self.error
        assert data == bytes(tokens)
        for place, page in enumerate(pages):
            self.pages[page] = data[place * SIZE : (place + 1) * SIZE]


def make_store(pages: int = PAGES) -> tuple[PrefixStore, PagePool, Memory]:
    """Return a store over an empty pool."""
    pool, memory = PagePool(pages), Memory()
    return PrefixStore(pool, memory, SIZE), pool, memory


def names_of(tokens: bytes, tenant: str = "") -> list[bytes]:
    """Return the names of the pages of some tokens."""
    return page_names(tenant, list(tokens), SIZE)


def keep(store: PrefixStore, tokens: bytes, tenant: str = "") -> list[bytes]:
    """Keep the pages of some tokens, whose bytes are the tokens; return their names."""
    names = names_of(tokens, tenant)
    store.write(names, tokens, tokens)
    return names


def test_what_is_kept_is_found_by_its_tenant_alone() -> None:
    """Under the names that a prompt of the same tokens would look for."""
    store, pool, _ = make_store()
    names = keep(store, b"aaaabbbb", "김밥")

    assert store.known(names) == 2
    assert store.read(names) == b"aaaabbbb"
    assert store.known(names_of(b"aaaabbbb", "다른 집")) == 0
    assert pool.used == 0


def test_pages_that_are_there_are_not_written_again() -> None:
    """However often a prompt comes, it takes the pages of one."""
    store, pool, _ = make_store()
    for _ in range(50):
        names = keep(store, b"aaaabbbbcccc")
        keep(store, b"aaaabbbbdddd")

    assert store.known(names) == 3
    assert pool.available == PAGES
    assert sum(pool.is_kept(page) for page in range(PAGES)) == 4


def test_only_what_is_still_there_is_read() -> None:
    """The beginning of a prompt whose end was given up."""
    store, pool, _ = make_store()
    names = keep(store, b"aaaabbbbcccc")
    pool.release(pool.allocate(PAGES - 2))

    assert store.read(names) == b"aaaabbbb"


def test_no_room_changes_nothing() -> None:
    """Pages that somebody holds are not taken, nor is a part of a prompt kept."""
    store, pool, _ = make_store()
    held = pool.allocate(PAGES - 1)
    names = names_of(b"aaaabbbb")
    with pytest.raises(PrefixError, match="2 pages are needed, and 1 are free") as caught:
        store.write(names, b"aaaabbbb", b"aaaabbbb")

    assert caught.value.end is PrefillEnd.NO_ROOM
    assert store.known(names) == 0
    pool.release(held)
    assert pool.used == 0


def test_its_own_beginning_is_not_given_up_for_its_end() -> None:
    """Pages found count as taken while others are looked for."""
    store, pool, _ = make_store(3)
    keep(store, b"aaaabbbb")
    held = pool.allocate(1)
    with pytest.raises(PrefixError):
        keep(store, b"aaaabbbbcccc")

    assert store.known(names_of(b"aaaabbbb")) == 2
    pool.release(held)


def test_too_few_bytes_are_refused() -> None:
    """Nothing is written where they do not fill the pages."""
    store, _, _ = make_store()
    names = names_of(b"aaaabbbb")
    with pytest.raises(PrefixError) as caught:
        store.write(names, b"aaaabbbb", b"aaaabbb")

    assert caught.value.end is PrefillEnd.DAMAGED
    assert store.known(names) == 0


def test_a_failed_write_leaves_no_page_behind() -> None:
    """Neither held nor findable."""
    store, pool, memory = make_store()
    memory.error = RuntimeError("out of memory")
    with pytest.raises(RuntimeError):
        keep(store, b"aaaabbbb")

    assert store.known(names_of(b"aaaabbbb")) == 0
    assert pool.used == 0
    assert pool.available == PAGES


@given(st.lists(st.tuples(st.text("ab", min_size=1, max_size=PAGES), st.integers(0, PAGES)), max_size=25))
def test_no_page_is_lost(imports: list[tuple[str, int]]) -> None:
    """Whatever is kept while whoever holds pages, all are there in the end, and each holds what its name says."""
    store, pool, _ = make_store()
    for letters, wanted in imports:
        tokens = "".join(letter * SIZE for letter in letters).encode()
        held = pool.allocate(min(wanted, pool.available))
        names = names_of(tokens)
        try:
            store.write(names, tokens, tokens)
        except PrefixError:
            assert store.known(names) < len(names)
        else:
            assert store.read(names) == tokens
        pool.release(held)
        assert pool.used == 0
        assert pool.available == PAGES
