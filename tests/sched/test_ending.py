"""Where an output ends, token by token and text by text."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.sched.ending import Ending, find_ending
from unmask.types import FinishReason

END = 256


def from_bytes(tokens: Sequence[int]) -> str:
    """Decode a byte per token, as a byte-level tokenizer does; the end token has no text."""
    return bytes(token for token in tokens if token != END).decode("utf-8", errors="replace")


def ending(text: str | bytes, *stop: str, limit: int = 100, ended: bool = False) -> Ending | None:
    """Return the ending of a text, followed by the end token if it has ``ended``."""
    content = text.encode() if isinstance(text, str) else text
    tokens = [*content, END, END] if ended else [*content]
    return find_ending(tokens, end=END, limit=limit, stop=stop, decode=from_bytes)


def stopped(tokens: int, text: str) -> Ending:
    """Return an ending by end token or stop sequence."""
    return Ending(tokens=tokens, text=text, reason=FinishReason.STOP)


def test_without_an_end_it_goes_on() -> None:
    """Neither end token, stop sequence nor limit: no ending."""
    assert ending("abc", "x", limit=4) is None


def test_the_end_token_counts_and_has_no_text() -> None:
    """Tokens up to and including the first end token count."""
    assert ending("abc", ended=True) == stopped(4, "abc")
    assert ending("", ended=True) == stopped(1, "")


def test_max_tokens_is_exact() -> None:
    """At the limit the output ends, and what is past it never counts."""
    assert ending("abcdef", limit=3) == Ending(tokens=3, text="abc", reason=FinishReason.LENGTH)
    assert ending("abc", limit=3) == Ending(tokens=3, text="abc", reason=FinishReason.LENGTH)


def test_an_end_at_the_limit_is_a_stop() -> None:
    """The last token that fits may be the end token; one past the limit is not seen."""
    assert ending("ab", ended=True, limit=3) == stopped(3, "ab")
    assert ending("abc", ended=True, limit=3) == Ending(tokens=3, text="abc", reason=FinishReason.LENGTH)


def test_a_stop_sequence_is_cut_off() -> None:
    """The text ends before it, and the tokens that complete it count."""
    assert ending("one two", " t") == stopped(5, "one")


def test_a_stop_sequence_past_the_limit_is_not_seen() -> None:
    """A stop sequence that is complete only past the limit does not count."""
    assert ending("abcd", "cd", limit=3) == Ending(tokens=3, text="abc", reason=FinishReason.LENGTH)


def test_a_stop_sequence_past_the_end_token_is_not_seen() -> None:
    """What follows the end token is no text."""
    tokens = [*b"ab", END, *b"cd"]

    assert find_ending(tokens, end=END, limit=9, stop=("cd", "bc"), decode=from_bytes) == stopped(3, "ab")


def test_a_stop_sequence_before_the_end_token_wins() -> None:
    """The earlier of both ends the text."""
    assert ending("abcd", "b", ended=True) == stopped(2, "a")


@pytest.mark.parametrize(
    ("stop", "expected"),
    [
        (("d", "b"), stopped(2, "a")),
        (("bcd", "c"), stopped(3, "ab")),
        (("bcd", "cd"), stopped(4, "a")),
        (("cd", "bcd"), stopped(4, "a")),
        (("z", "abcd"), stopped(4, "")),
    ],
)
def test_the_stop_sequence_complete_first_counts(stop: tuple[str, ...], expected: Ending) -> None:
    """Of several the one that is complete first ends the text; of two complete at once, the longer."""
    assert ending("abcd", *stop) == expected


def test_a_stop_sequence_inside_hangul_bytes() -> None:
    """A stop character of three bytes counts once all three are there, and cuts whole characters."""
    content = "가나다".encode()

    assert ending(content[:5], "나") is None
    assert ending(content[:6], "나") == stopped(6, "가")
    assert ending(content, "나", limit=5) == Ending(tokens=5, text="가�", reason=FinishReason.LENGTH)


@given(
    st.text(alphabet="ab가", max_size=12),
    st.lists(st.text(alphabet="ab가", min_size=1, max_size=3), max_size=3),
    st.booleans(),
    st.integers(1, 20),
    st.lists(st.integers(1, 9), min_size=1, max_size=40),
)
def test_it_does_not_matter_how_many_tokens_arrive_at_once(
    text: str, stop: list[str], ended: bool, limit: int, sizes: list[int]
) -> None:
    """Looking after every canvas of any length finds the ending that looking after every token finds."""
    tokens = [*text.encode(), *([END] if ended else []), *b"aab", END] + [END] * 40

    def first_found(steps: list[int]) -> Ending | None:
        count = 0
        for size in steps:
            count += size
            found = find_ending(tokens[:count], end=END, limit=limit, stop=tuple(stop), decode=from_bytes)
            if found is not None:
                return found
        return None

    assert first_found(sizes + [9] * 10) == first_found([1] * len(tokens))
