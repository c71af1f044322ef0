"""Behaviour of `unmask.cli.when`."""

from datetime import UTC, datetime, timedelta

import pytest

from unmask.cli.exits import UsageError
from unmask.cli.when import parse_when

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("5m", NOW + timedelta(minutes=5)),
        ("12h", NOW + timedelta(hours=12)),
        ("30d", NOW + timedelta(days=30)),
        ("2w", NOW + timedelta(weeks=2)),
        ("2027-01-31", datetime(2027, 1, 31, tzinfo=UTC)),
        ("2027-01-31T12:00+09:00", datetime(2027, 1, 31, 3, tzinfo=UTC)),
    ],
)
def test_times_are_read(text: str, when: datetime) -> None:
    """So far ahead, or at a time; without a zone it is UTC."""
    assert parse_when(text, NOW) == when


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no time"),
        ("soon", "is no time"),
        ("0d", "is no time"),
        ("-1d", "is no time"),
        ("1y", "is no time"),
        ("2026-13-01", "is no time"),
        ("999999w", "is no time"),
        ("2026-11-30T12:00", "has passed already"),
        ("2001-01-01", "has passed already"),
    ],
)
def test_what_is_no_time_ahead_is_refused(text: str, said: str) -> None:
    """The message says what is one."""
    with pytest.raises(UsageError, match=f"{said}, allowed: 12h, 30d"):
        parse_when(text, NOW)
