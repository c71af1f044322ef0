"""Behaviour of `unmask.policy.log`."""

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask.errors import ConfigError
from unmask.policy.errors import PolicyTamperedError
from unmask.policy.log import ORIGIN, Act, Deed, Log, Signature, entry_line, next_entry, parse_log
from unmask.testing.budget_policies import signed


def deed(act: Act = Act.PROPOSE, policy: str = "1" * 64) -> Deed:
    """Return a deed with a policy of no content."""
    return Deed(act=act, policy=policy, model="tiny", model_digest="0" * 16)


def written(*signatures: Signature) -> bytes:
    """Return a log of proposals with these signatures."""
    content, log = b"", Log(entries=(), torn=b"")
    for signature in signatures:
        content += entry_line(next_entry(log, deed(), signature))
        log = parse_log(content)
    return content


CONTENT = written(signed("ann", 0, "first"), signed("bob", 1), signed("cem", 2, "läst 😀"))


def test_entries_are_chained() -> None:
    """Each holds the digest of the one before, the first a fixed origin."""
    log = parse_log(CONTENT)

    assert [entry.number for entry in log.entries] == [1, 2, 3]
    assert [entry.previous for entry in log.entries] == [ORIGIN, *(entry.digest for entry in log.entries[:2])]
    assert log.head == log.entries[-1].digest
    assert parse_log(b"").head == ORIGIN
    assert [entry.signature for entry in log.entries] == [
        signed("ann", 0, "first"),
        signed("bob", 1),
        signed("cem", 2, "läst 😀"),
    ]


@settings(max_examples=200)
@given(st.integers(0, 8 * len(CONTENT) - 1))
def test_every_flipped_bit_is_seen(bit: int) -> None:
    """No bit of the log changes unseen, in whichever entry; the last line feed's leaves the line torn."""
    flipped = bytearray(CONTENT)
    flipped[bit // 8] ^= 1 << bit % 8

    if bit // 8 == len(CONTENT) - 1:
        log = parse_log(bytes(flipped))
        assert len(log.entries) == 2
        assert log.torn
    else:
        number = CONTENT[: bit // 8].count(b"\n") + 1
        with pytest.raises(PolicyTamperedError, match=f"^entry {number} of the policies' log is broken"):
            parse_log(bytes(flipped))


@given(st.integers(0, len(CONTENT)))
def test_log_cut_anywhere_keeps_its_whole_lines(size: int) -> None:
    """A writer that dies leaves part of one line at most, which counts for nothing and is told."""
    log = parse_log(CONTENT[:size])

    assert len(log.entries) == CONTENT[:size].count(b"\n")
    assert CONTENT[:size].endswith(log.torn)
    assert b"\n" not in log.torn


@pytest.mark.parametrize("order", [(0, 2), (1, 2), (1, 0, 2), (0, 0, 1, 2), (0, 1, 2, 2)])
def test_lines_moved_removed_or_repeated_are_seen(order: tuple[int, ...]) -> None:
    """Whole lines, each of them genuine, do not make a log in another order."""
    lines = CONTENT.splitlines(keepends=True)

    with pytest.raises(PolicyTamperedError, match=r"entry [1234] of"):
        parse_log(b"".join(lines[at] for at in order))


def test_line_written_otherwise_is_seen() -> None:
    """A space does not change what JSON says, and is a change all the same."""
    with pytest.raises(PolicyTamperedError, match=r"entry 1 .* changed after it was written"):
        parse_log(CONTENT.replace(b'"number":1', b'"number": 1'))


def test_times_are_kept_in_utc() -> None:
    """Whatever the zone of whoever acts."""
    there = datetime(2026, 1, 1, 9, tzinfo=timezone(timedelta(hours=9)))
    line = written(Signature(actor="kim", time=there))

    assert b'"time":"2026-01-01T00:00:00Z"' in line
    assert parse_log(line).entries[0].signature.time == there


@pytest.mark.parametrize(
    ("signature", "param"),
    [
        (signed(""), "actor"),
        (signed("a\nb"), "actor"),
        (signed("a" * 129), "actor"),
        (signed("ann", note="a\nb"), "note"),
        (signed("ann", note="a" * 2_001), "note"),
        (signed("ann", note="\x1b[31m"), "note"),
    ],
)
def test_what_cannot_stand_in_a_line_is_refused(signature: Signature, param: str) -> None:
    """Names and notes are one line of printable text."""
    with pytest.raises(ConfigError) as caught:
        next_entry(parse_log(b""), deed(), signature)

    assert caught.value.param == param
