"""Behaviour of `unmask.replicas.prefix_index`."""

from hypothesis import given
from hypothesis import strategies as st

from unmask.replicas.prefix_index import PrefixIndex


def pages(text: str) -> list[bytes]:
    """Return a page for each letter, named by everything up to it."""
    return [text[: end + 1].encode() for end in range(len(text))]


def test_longest_beginning_is_found() -> None:
    """Pages count up to the first that is missing."""
    index = PrefixIndex(10)
    index.use(pages("abc"))

    assert [index.match(pages(text)) for text in ("abcd", "abx", "b", "")] == [3, 2, 0, 0]


def test_what_follows_goes_before_what_it_follows() -> None:
    """Where there is no room the ends of the oldest prompt go first, so what is left is still a beginning."""
    index = PrefixIndex(4)
    index.use(pages("abc"))
    index.use(pages("xy"))

    assert (index.match(pages("abc")), index.match(pages("xy"))) == (2, 2)


def test_use_keeps_pages() -> None:
    """The least recently used goes first."""
    index = PrefixIndex(4)
    for text in ("ab", "xy", "ab", "uv"):
        index.use(pages(text))

    assert [index.match(pages(text)) for text in ("ab", "xy", "uv")] == [2, 0, 2]


def test_nothing_is_left_of_a_lost_replica() -> None:
    """Who comes back has nothing."""
    index = PrefixIndex(4)
    index.use(pages("ab"))
    index.clear()

    assert index.match(pages("ab")) == 0


@given(st.lists(st.text("ab", max_size=8), max_size=20), st.integers(1, 6))
def test_it_is_bounded_and_holds_beginnings(texts: list[str], limit: int) -> None:
    """Never more pages than its limit, and of the last prompt as many as fit."""
    index = PrefixIndex(limit)
    for text in texts:
        index.use(pages(text))
        assert len(index) <= limit
        assert index.match(pages(text)) == min(len(text), limit)
