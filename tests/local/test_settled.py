"""Text that may be shown before a request has ended."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.local.settled import pieces, settled
from unmask.sched.ending import Writer
from unmask.testing.sequences import make_sequence
from unmask.testing.submissions import make_submission
from unmask.text.tokenizer import packaged_tokenizer


@pytest.mark.parametrize(
    ("text", "stop", "shown"),
    [
        ("abc", (), "abc"),
        ("가\ufffd", (), "가\ufffd"),
        ("one t", ("two",), "one "),
        ("one tw", ("two",), "one "),
        ("one to", ("two",), "one to"),
        ("aab", ("abab", "bb"), "a"),
        ("E", ("END",), ""),
        ("END", ("ENDE",), ""),
        ("가나", ("나다",), "가"),
    ],
)
def test_what_may_change_is_held_back(text: str, stop: tuple[str, ...], shown: str) -> None:
    """The beginning of a stop sequence waits for what follows, and nothing else does."""
    assert settled(text, stop) == shown


@given(st.text(alphabet="ab가", max_size=10), st.lists(st.text(alphabet="ab가", min_size=1, max_size=4), max_size=3))
def test_what_is_shown_is_never_taken_back(text: str, stop: list[str]) -> None:
    """Every settled beginning is a beginning of the final text, wherever a stop sequence cuts it."""
    writer = Writer(end=256, token_bytes=lambda token: bytes([token]))
    sequence = make_sequence(make_submission(max_tokens=100, stop=tuple(stop)))
    shown = [settled(sequence.text, tuple(stop)) for byte in text.encode() if writer.write(sequence, [byte]) is None]

    assert all(sequence.text.startswith(beginning) for beginning in shown)


@given(st.text(max_size=12))
def test_pieces_join_to_the_text(text: str) -> None:
    """A piece per token, a character of several tokens shown whole with the last of them."""
    tokenizer = packaged_tokenizer()
    tokens = tokenizer.encode(text)
    found = pieces(tokens, tokenizer.token_bytes)

    assert len(found) == len(tokens)
    assert "".join(found) == text


def test_a_character_goes_to_its_last_token() -> None:
    """Of three bytes the first two show nothing."""
    tokenizer = packaged_tokenizer()

    assert pieces(tokenizer.encode("가"), tokenizer.token_bytes) == ["", "", "가"]


def test_broken_characters_are_shown_in_the_end() -> None:
    """What never becomes a character is shown as broken when something follows, or at the end."""
    tokenizer = packaged_tokenizer()
    tokens = tokenizer.encode("가")[:2]

    assert "".join(pieces(tokens, tokenizer.token_bytes)) == "\ufffd"
    assert "".join(pieces([*tokens, *tokenizer.encode("a")], tokenizer.token_bytes)) == "\ufffda"
