"""What an output is written as, and where it ends, token by token and text by text."""

from collections.abc import Sequence as Items
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.sched.ending import Writer
from unmask.sequence import OutputToken, Sequence
from unmask.testing.fixed_tokens import make_fixed
from unmask.testing.sequences import make_sequence
from unmask.testing.submissions import make_submission
from unmask.types import FinishReason, FixedToken

END = 256


def one_byte(token: int) -> bytes:
    """Return a byte per token, as a byte-level tokenizer does."""
    return bytes([token])


WRITER = Writer(end=END, token_bytes=one_byte)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """An end that was reached: how many tokens count, the text, and why."""

    tokens: int
    text: str
    reason: FinishReason


def writing(*stop: str, limit: int = 100, top_logprobs: int | None = None) -> Sequence:
    """Return a sequence without output."""
    submission = make_submission(max_tokens=limit, max_steps=limit, stop=stop, top_logprobs=top_logprobs)
    return make_sequence(submission)


def ending_of(sequence: Sequence, reason: FinishReason | None) -> Ending | None:
    """Return where a sequence has ended, if it has."""
    return None if reason is None else Ending(tokens=len(sequence.output), text=sequence.text, reason=reason)


def ending(text: str | bytes, *stop: str, limit: int = 100, ended: bool = False) -> Ending | None:
    """Return the ending of a text, followed by the end token if it has ``ended``."""
    content = text.encode() if isinstance(text, str) else text
    sequence = writing(*stop, limit=limit)
    return ending_of(sequence, WRITER.write(sequence, [*content, END, END] if ended else [*content]))


def stopped(tokens: int, text: str) -> Ending:
    """Return an ending by end token or stop sequence."""
    return Ending(tokens=tokens, text=text, reason=FinishReason.STOP)


def cut(tokens: int, text: str) -> Ending:
    """Return an ending at ``max_tokens``."""
    return Ending(tokens=tokens, text=text, reason=FinishReason.LENGTH)


def test_without_an_end_it_goes_on() -> None:
    """Neither end token, stop sequence nor limit: no ending."""
    assert ending("abc", "x", limit=4) is None


def test_the_end_token_counts_and_has_no_text() -> None:
    """Tokens up to and including the first end token count."""
    assert ending("abc", ended=True) == stopped(4, "abc")
    assert ending("", ended=True) == stopped(1, "")


def test_max_tokens_is_exact() -> None:
    """At the limit the output ends, and what is past it never counts."""
    assert ending("abcdef", limit=3) == cut(3, "abc")
    assert ending("abc", limit=3) == cut(3, "abc")


def test_an_end_at_the_limit_is_a_stop() -> None:
    """The last token that fits may be the end token; one past the limit is not seen."""
    assert ending("ab", ended=True, limit=3) == stopped(3, "ab")
    assert ending("abc", ended=True, limit=3) == cut(3, "abc")


def test_a_stop_sequence_is_cut_off() -> None:
    """The text ends before it, and the tokens that complete it count."""
    assert ending("one two", " t") == stopped(5, "one")


def test_a_stop_sequence_past_the_limit_is_not_seen() -> None:
    """A stop sequence that is complete only past the limit does not count."""
    assert ending("abcd", "cd", limit=3) == cut(3, "abc")


def test_a_stop_sequence_past_the_end_token_is_not_seen() -> None:
    """What follows the end token is no text."""
    sequence = writing("cd", "bc")

    assert ending_of(sequence, WRITER.write(sequence, [*b"ab", END, *b"cd"])) == stopped(3, "ab")


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
    assert ending(content, "나", limit=5) == cut(5, "가�")


def test_what_is_left_of_a_character_is_text_in_the_end() -> None:
    """Bytes of a character that never came are shown as broken where the output ends, and not before."""
    content = "가나".encode()[:4]

    assert ending(content, ended=True) == stopped(5, "가�")
    assert ending(content, limit=4) == cut(4, "가�")
    sequence = writing()
    assert WRITER.write(sequence, content) is None
    assert (sequence.text, sequence.unfinished) == ("가", content[3:])
    assert WRITER.close(sequence) is FinishReason.LENGTH
    assert (sequence.text, sequence.unfinished) == ("가�", b"")


@pytest.mark.parametrize(("ended", "limit"), [(True, 100), (False, 4)])
def test_a_broken_character_may_be_a_stop_sequence(ended: bool, limit: int) -> None:
    """A character on its way is no broken one, however many tokens it takes; in the end it is."""
    assert ending("가나", "�") is None
    assert ending("가나".encode()[:4], "�", ended=ended, limit=limit) == stopped(4, "가")


def test_a_token_is_decoded_once() -> None:
    """However long an output is, a token more costs its own bytes and no others."""
    seen: list[int] = []

    def remembered(token: int) -> bytes:
        seen.append(token)
        return bytes([token])

    writer, sequence = Writer(end=END, token_bytes=remembered), writing("never", limit=10_000)
    tokens = [*("가나다 " * 50).encode()]
    for token in tokens:
        writer.write(sequence, [token])

    assert seen == tokens
    assert sequence.text == "가나다 " * 50


texts = st.text(alphabet="ab가", max_size=12)
stops = st.lists(st.text(alphabet="ab가", min_size=1, max_size=3), max_size=3).map(tuple)


@given(texts, stops, st.booleans(), st.integers(1, 20), st.lists(st.integers(1, 9), min_size=1, max_size=40))
def test_it_does_not_matter_how_many_tokens_arrive_at_once(
    text: str, stop: tuple[str, ...], ended: bool, limit: int, sizes: list[int]
) -> None:
    """Writing canvases of any length ends where writing token by token ends."""
    tokens = [*text.encode(), *([END] if ended else []), *b"aab", END] + [END] * 40

    def first_found(steps: list[int]) -> Ending | None:
        sequence = writing(*stop, limit=limit)
        count = 0
        for size in steps:
            reason = WRITER.write(sequence, tokens[count : count + size])
            count += size
            if reason is not None:
                return ending_of(sequence, reason)
        return None

    assert first_found(sizes + [9] * 10) == first_found([1] * len(tokens))


def decoded(chunks: Items[bytes]) -> str:
    """Decode everything at once."""
    return b"".join(chunks).decode("utf-8", errors="replace")


def plain_ending(chunks: list[bytes], stop: tuple[str, ...], limit: int, *, ended: bool) -> Ending | None:
    """Find an ending by decoding everything anew after each token."""
    for count in range(1, min(len(chunks), limit) + 1):
        text = decoded(chunks[:count])
        found = [(text.find(one) + len(one), text.find(one)) for one in stop if one in text]
        if found:
            return stopped(count, text[: min(found)[1]])
    if len(chunks) >= limit:
        return cut(limit, decoded(chunks[:limit]))
    return stopped(len(chunks) + 1, decoded(chunks)) if ended else None


def cut_up(text: str, places: list[int]) -> list[bytes]:
    """Cut the bytes of a text wherever ``places`` say, inside characters too."""
    content = text.encode()
    borders = [0, *sorted({place % (len(content) + 1) for place in places}), len(content)]
    return [content[first:last] for first, last in pairwise(borders) if first < last]


chunked = st.one_of(
    st.builds(cut_up, st.text(alphabet="ab가😀", max_size=20), st.lists(st.integers(0, 99), max_size=30)),
    st.lists(st.binary(min_size=1, max_size=5), max_size=12),
    st.lists(st.sampled_from([b"a", b"b", b"\xf0", b"\x9f", b"\x98", b"\x80", b"\xea\xb0", b"\xed", b"\xff"])),
)


@given(chunked, stops, st.integers(1, 30), st.booleans())
def test_writing_token_by_token_is_decoding_it_all(
    chunks: list[bytes], stop: tuple[str, ...], limit: int, ended: bool
) -> None:
    """Text and ending are those of decoding all bytes anew after each token, broken characters included."""
    writer = Writer(end=len(chunks), token_bytes=chunks.__getitem__)
    sequence = writing(*stop, limit=limit)
    tokens = [*range(len(chunks)), *([len(chunks)] if ended else [])]
    reason = None
    for count, token in enumerate(tokens, 1):
        reason = writer.write(sequence, [token])
        if reason is not None:
            break
        shown = sequence.text + ("\ufffd" if sequence.unfinished else "")
        assert shown == decoded(chunks[:count])

    assert ending_of(sequence, reason) == plain_ending(chunks, stop, limit, ended=ended)


def fixed(content: bytes) -> list[FixedToken | None]:
    """Return what steps said of tokens."""
    return [make_fixed(token, 0) for token in content]


def test_log_probabilities_are_kept_with_the_place_of_their_text() -> None:
    """One for each token that has text, at the first character it is a part of."""
    content = "a가b".encode()
    sequence = writing(top_logprobs=0)
    WRITER.write(sequence, [*content, END, END], [*fixed(content), *fixed(b"\x00\x00")])

    assert [token.start for token in sequence.logprobs] == [0, 1, 1, 1, 2]
    assert sequence.logprobs == [
        OutputToken(start=token.start, fixed=expected)
        for token, expected in zip(sequence.logprobs, fixed(content), strict=True)
        if expected is not None
    ]


def test_a_token_without_its_log_probability_is_a_mistake() -> None:
    """Whoever asked for log-probabilities gets one for each token, or none at all."""
    with pytest.raises(AssertionError, match="looked at"):
        WRITER.write(writing(top_logprobs=0), [*b"ab"], [make_fixed(97, 0), None])


def test_without_a_wish_none_are_kept() -> None:
    """A request that asked for none carries none."""
    sequence = writing()
    WRITER.write(sequence, [*b"ab"])

    assert sequence.logprobs == []


def test_a_copy_writes_into_nobodys_output() -> None:
    """It begins with the same text, unfinished characters included, and leaves its original alone."""
    sequence = make_sequence(make_submission(max_tokens=8, top_logprobs=1), output=[9], text="a", unfinished=b"\xec")
    writer = Writer(end=1, token_bytes=lambda token: bytes([token]))
    copy = writer.copy(sequence)
    writer.write(copy, (0x95, 0x88))

    assert (copy.text, copy.output) == ("a안", [9, 0x95, 0x88])
    assert (sequence.text, sequence.output, sequence.unfinished) == ("a", [9], b"\xec")


def test_other_end_tokens_end_an_output_too() -> None:
    """Of several end tokens whichever comes first ends it; like the first of them it counts and has no text."""
    writer = Writer(end=END, token_bytes=one_byte, other_ends=frozenset({257}))
    sequence = writing()
    reason = writer.write(sequence, [*b"ab", 257, *b"c", END])

    assert ending_of(sequence, reason) == stopped(3, "ab")
