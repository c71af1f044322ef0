"""Behaviour of `unmask.prefix`."""

import pickle
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.prefix import KvPrefix, PrefixError, PrefixKind, check_prefix, sealed
from unmask.routing import PrefillEnd
from unmask.types import Precision

KIND = PrefixKind(model="0123", precision=Precision.FLOAT32, layout="2x16x8 float32")
PROMPT = tuple(range(48))


def made(**kind: Any) -> KvPrefix:  # noqa: ANN401 - any field of the kind
    """Return two pages of a prompt of three."""
    return sealed(replace(KIND, **kind), PROMPT[:32], 0, (b"one", b"two"))


def test_what_was_sent_is_taken() -> None:
    """As another process gets it."""
    check_prefix(pickle.loads(pickle.dumps(made())), KIND, PROMPT)  # noqa: S301 - our own


@pytest.mark.parametrize(
    ("kind", "end"),
    [
        ({"model": "다른"}, PrefillEnd.MODEL),
        ({"precision": Precision.BFLOAT16}, PrefillEnd.PRECISION),
        ({"layout": "2x8x8 float32"}, PrefillEnd.LAYOUT),
    ],
)
def test_what_another_engine_cannot_use_is_refused(kind: dict[str, Any], end: PrefillEnd) -> None:
    """It names what differs, and survives the way between processes."""
    with pytest.raises(PrefixError, match=f"are of {end} .*, allowed: ") as caught:
        check_prefix(made(**kind), KIND, PROMPT)

    assert pickle.loads(pickle.dumps(caught.value)).end is end  # noqa: S301 - our own


def test_those_of_another_prompt_are_refused() -> None:
    """A tokenizer of another version would make other tokens of the same text."""
    with pytest.raises(PrefixError) as caught:
        check_prefix(made(), KIND, (9, *PROMPT[1:]))

    assert caught.value.end is PrefillEnd.TOKENS


@given(st.integers(0, 5), st.integers(0, 255))
def test_a_changed_byte_is_found(place: int, byte: int) -> None:
    """Whichever it is; nothing else passes than what was sealed."""
    sent = made()
    data = bytearray(b"".join(sent.parts))
    is_same = data[place] == byte
    data[place] = byte
    arrived = replace(sent, parts=(bytes(data[:3]), bytes(data[3:])))
    if is_same:
        check_prefix(arrived, KIND, PROMPT)
        return
    with pytest.raises(PrefixError) as caught:
        check_prefix(arrived, KIND, PROMPT)
    assert caught.value.end is PrefillEnd.DAMAGED


@pytest.mark.parametrize(
    "changes", [{"parts": (b"onetwo",)}, {"parts": (b"on", b"etwo")}, {"parts": (b"one",)}, {"cached": 16}]
)
def test_the_digest_holds_all_of_it(changes: dict[str, Any]) -> None:
    """Also where one part ends, and what is said of how it was made."""
    with pytest.raises(PrefixError) as caught:
        check_prefix(replace(made(), **changes), KIND, PROMPT)

    assert caught.value.end is PrefillEnd.DAMAGED
