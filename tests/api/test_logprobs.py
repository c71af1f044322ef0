"""Behaviour of `unmask.api.logprobs`."""

import math
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from unmask.api.logprobs import LEAST, TextLogprobs, chat_logprobs
from unmask.backend import Alternative, TokenLogprob


def token(data: bytes, logprob: float = -0.5, *top: tuple[bytes, float]) -> TokenLogprob:
    """Return a token with its alternatives."""
    return TokenLogprob(
        chosen=Alternative(data=data, logprob=logprob),
        top=tuple(Alternative(data=other, logprob=value) for other, value in top),
    )


def test_chat_form() -> None:
    """Text, bytes and alternatives of each token."""
    assert chat_logprobs([token("가".encode(), -0.5, ("나".encode(), -0.25), (b"x", -2.0)), token(b"!")]) == {
        "content": [
            {
                "token": "가",
                "logprob": -0.5,
                "bytes": [234, 176, 128],
                "top_logprobs": [
                    {"token": "나", "logprob": -0.25, "bytes": [235, 130, 152]},
                    {"token": "x", "logprob": -2.0, "bytes": [120]},
                ],
            },
            {"token": "!", "logprob": -0.5, "bytes": [33], "top_logprobs": []},
        ],
        "refusal": None,
    }


def test_text_form() -> None:
    """Lists side by side; the chosen token is among the likeliest in any case."""
    assert TextLogprobs(4).write([token(b"ab", -3.0, (b"x", -0.1)), token(b"c", -0.2, (b"c", -0.2))]) == {
        "tokens": ["ab", "c"],
        "token_logprobs": [-3.0, -0.2],
        "top_logprobs": [{"x": -0.1, "ab": -3.0}, {"c": -0.2}],
        "text_offset": [4, 6],
    }


def test_part_of_a_character_is_told_by_its_bytes() -> None:
    """A chat token is escaped; a completion's gets a name of its own, and the offset of the character."""
    first, second, other = b"\xf0\x9f", b"\x99\x82", b"\x99\x83"
    tokens = [token(first), token(second, -1.0, (other, -0.1)), token(b"!")]
    content: Any = chat_logprobs(tokens)["content"]
    text = TextLogprobs(0).write(tokens)

    assert [one["token"] for one in content] == ["\\xf0\\x9f", "\\x99\\x82", "!"]
    assert bytes(content[0]["bytes"] + content[1]["bytes"]).decode() == "🙂"
    assert text["tokens"] == ["bytes:\\xf0\\x9f", "bytes:\\x99\\x82", "!"]
    assert text["top_logprobs"][1] == {"bytes:\\x99\\x83": -0.1, "bytes:\\x99\\x82": -1.0}  # type: ignore[index]
    assert text["text_offset"] == [0, 0, 1]


def test_the_impossible_has_a_number() -> None:
    """JSON knows no infinity, and null is no number."""
    impossible = [token(b"a", -math.inf, (b"b", -math.inf))]
    content: Any = chat_logprobs(impossible)["content"]
    text: Any = TextLogprobs(0).write(impossible)

    assert content[0]["logprob"] == content[0]["top_logprobs"][0]["logprob"] == LEAST
    assert text["token_logprobs"] == [LEAST]
    assert set(text["top_logprobs"][0].values()) == {LEAST}


@given(text=st.text(st.characters(exclude_categories=["Cs"])), cuts=st.data())
def test_offsets_lead_to_the_tokens(text: str, cuts: st.DataObject) -> None:
    """Wherever bytes are cut into tokens and tokens into parts, an offset is where the token's character begins."""
    data = text.encode()
    places = [0, *sorted(cuts.draw(st.sets(st.integers(1, max(1, len(data) - 1))))), len(data)]
    words = [data[low:high] for low, high in pairwise(places) if low < high]
    split = cuts.draw(st.integers(0, len(words)))
    writer = TextLogprobs(5)
    offsets: list[int] = []
    for part in (words[:split], words[split:]):
        offsets += writer.write([token(word) for word in part])["text_offset"]  # type: ignore[arg-type]

    before = b""
    for word, offset in zip(words, offsets, strict=True):
        assert offset == 5 + len(before.decode(errors="ignore"))
        before += word
