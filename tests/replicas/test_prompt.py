"""Behaviour of `unmask.replicas.prompt`."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tests.replicas.prompts import make_request
from unmask.replicas.prompt import BYTES_PER_TOKEN, TEXT_PAGE_TOKENS, Prompt, read_text, token_reader
from unmask.types import Message

PAGE_BYTES = TEXT_PAGE_TOKENS * BYTES_PER_TOKEN


def encode(messages: Sequence[Message]) -> list[int]:
    """Return a token for each character."""
    return [ord(letter) for message in messages for letter in message.content]


def common(one: Prompt, other: Prompt) -> int:
    """Return how many pages two prompts begin with alike."""
    pairs = zip(one.pages, other.pages, strict=False)
    return next(
        (count for count, (left, right) in enumerate(pairs) if left != right), min(len(one.pages), len(other.pages))
    )


@given(st.text("가나ab", max_size=60), st.text("가나ab", max_size=60))
def test_prompts_have_as_many_names_in_common_as_pages(one: str, other: str) -> None:
    """By an engine's pages: full ones only, each together with all before it."""
    read = token_reader(encode, 4)
    first, second = read(make_request(one)), read(make_request(other))
    alike = next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )

    assert common(first, second) == alike // 4
    assert (len(first.pages), first.tokens) == (len(one) // 4, len(one))


@given(st.text(min_size=1, max_size=400), st.text(min_size=1, max_size=400))
def test_turns_of_a_conversation_begin_alike(first: str, later: str) -> None:
    """By text as well: what a turn adds stands behind, whatever it is written in."""
    before, after = read_text(make_request(first)), read_text(make_request(first, later, later))

    assert after.pages[: len(before.pages)] == before.pages
    assert before.home == after.home


def test_text_is_counted_in_bytes() -> None:
    """Hangul takes three bytes a syllable, and so more pages than as many Latin letters."""
    korean, english = read_text(make_request("가" * PAGE_BYTES)), read_text(make_request("a" * PAGE_BYTES))

    assert (len(korean.pages), len(english.pages)) == (3, 1)


def test_nothing_is_shared_across_tenants() -> None:
    """Neither pages nor sessions nor homes have names in common."""
    one, other = (read_text(make_request("a" * 2 * PAGE_BYTES, tenant=tenant, session="s")) for tenant in "ab")

    assert not set(one.pages) & set(other.pages)
    assert one.session != other.session
    assert one.home != other.home


def test_a_session_is_a_home() -> None:
    """What the client names counts for more than how the prompt begins."""
    one, other = (read_text(make_request(text, session="안녕")) for text in ("x", "y"))

    assert (one.home, one.session) == (other.home, other.session)
    assert read_text(make_request("x")).session == b""
