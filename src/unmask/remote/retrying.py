"""When a request is tried again: full jitter, and what upstreams say of when to come back.

Full jitter is that of M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
"""

from collections.abc import Callable
from datetime import UTC
from email.utils import parsedate_to_datetime

from unmask.remote.settings import Retries

LONGEST_AFTER_S = 86_400.0


def jitter_s(tried: int, base_s: float, longest_s: float, draw: float) -> float:
    """Return seconds drawn evenly from 0 to a longest pause that doubles with each try.

    Args:
        tried: tries that have failed, at least 1.
        base_s: the longest pause before the second try.
        longest_s: the longest of all.
        draw: a number from 0 to 1.
    """
    return draw * min(longest_s, base_s * 2.0 ** (tried - 1))


def pause_s(retries: Retries, tried: int, draw: Callable[[], float], after_s: float | None) -> float | None:
    """Return the seconds to wait before another try; ``None`` where there is to be none.

    Args:
        retries: how often, and how long.
        tried: tries that have failed, at least 1.
        draw: returns numbers from 0 to 1.
        after_s: what the upstream asks for. It is waited for, and the jitter on top of it keeps callers apart that
            were all told the same; where it asks for more than ``retries.longest`` nobody waits.
    """
    if tried > retries.limit or (after_s is not None and after_s > retries.longest):
        return None
    return (after_s or 0.0) + jitter_s(tried, retries.base, retries.longest, draw())


def retry_after_s(header: str | None, now: float) -> float | None:
    """Read a ``Retry-After`` header (RFC 9110, section 10.2.3): seconds, or a date of HTTP.

    Args:
        header: its value, if it is there.
        now: seconds since 1970.

    Returns:
        Seconds from now, from 0 to a day; ``None`` where it says nothing that can be read.
    """
    if header is None:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:12]), LONGEST_AFTER_S)
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, IndexError, OverflowError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return min(max(0.0, date.timestamp() - now), LONGEST_AFTER_S)
