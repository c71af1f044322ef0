"""Times as people write them on the command line."""

import re
from datetime import UTC, datetime, timedelta

from unmask.cli.exits import UsageError

ALLOWED = "12h, 30d, 2w, a date such as 2027-01-31 or a time such as 2027-01-31T12:00+09:00"
_AFTER = re.compile(r"([1-9][0-9]{0,5})([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_when(text: str, now: datetime) -> datetime:
    """Return a time that is so far ahead, or on this day (UTC where no zone is said).

    Raises:
        UsageError: it is neither, or it has passed.
    """
    found = _AFTER.fullmatch(text)
    try:
        when = now + timedelta(**{_UNITS[found[2]]: int(found[1])}) if found else datetime.fromisoformat(text)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{text[:40]!r} is no time, allowed: {ALLOWED}") from error
    when = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
    if when <= now:
        raise UsageError(f"{text[:40]!r} has passed already, allowed: {ALLOWED}")
    return when
