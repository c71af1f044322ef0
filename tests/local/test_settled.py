"""Text that may be shown before a request has ended."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.local.settled import pieces, settled
from unmask.sched.ending import Ending, find_ending
from unmask.text.tokenizer import packaged_tokenizer


@pytest.mark.parametrize(
    ("text", "stop", "shown"),
    [
        ("abc", (), "abc"),
        ("가\ufffd", (), "가"),
        ("가\ufffd\ufffd", (), "가"),
        ("a\ufffdb", (), "a\ufffdb"),
        ("one t", ("two",), "one "),
        ("one tw", ("two",), "one "),
        ("one to", ("two",), "one to"),
        ("aab", ("abab", "bb"), "a"),
        ("E", ("END",), ""),
        ("END", ("ENDE",), ""),
        ("x\ufffd", ("xy",), ""),
    ],
)
def test_what_may_change_is_held_back(text: str, stop: tuple[str, ...], shown: str) -> None:
    """The first bytes of a character, and the beginning of a stop sequence, wait for what follows."""
    assert settled(text, stop) == shown


def from_bytes(tokens: Sequence[int]) -> str:
    """Decode a byte per token."""
    return bytes(tokens).decode("utf-8", errors="replace")


@given(st.text(alphabet="ab가", max_size=10), st.lists(st.text(alphabet="ab가", min_size=1, max_size=4), max_size=3))
def test_what_is_shown_is_never_taken_back(text: str, stop: list[str]) -> None:
    """Every settled beginning is a beginning of the final text, wherever a stop sequence cuts it."""
    tokens = list(text.encode())

    def ending(count: int, limit: int) -> Ending | None:
        return find_ending(tokens[:count], end=256, limit=limit, stop=tuple(stop), decode=from_bytes)

    final = ending(len(tokens), len(tokens))
    assert final is not None
    for count in range(len(tokens)):
        if ending(count, len(tokens)) is None:
            assert final.text.startswith(settled(from_bytes(tokens[:count]), tuple(stop)))


@given(st.text(max_size=12))
def test_pieces_join_to_the_text(text: str) -> None:
    """A piece per token, a character of several tokens shown whole with the last of them."""
    tokenizer = packaged_tokenizer()
    tokens = tokenizer.encode(text)
    found = pieces(tokens, tokenizer.decode)

    assert len(found) == len(tokens)
    assert "".join(found) == text


def test_a_character_goes_to_its_last_token() -> None:
    """Of three bytes the first two show nothing."""
    tokenizer = packaged_tokenizer()

    assert pieces(tokenizer.encode("가"), tokenizer.decode) == ["", "", "가"]


def test_broken_characters_are_shown_in_the_end() -> None:
    """What never becomes a character is shown as broken when something follows, or at the end."""
    tokenizer = packaged_tokenizer()
    tokens = tokenizer.encode("가")[:2]

    assert "".join(pieces(tokens, tokenizer.decode)) == "\ufffd"
    assert "".join(pieces([*tokens, *tokenizer.encode("a")], tokenizer.decode)) == "\ufffda"
