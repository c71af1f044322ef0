"""Headers that say how a call was served."""

from collections.abc import Collection, Sequence

from unmask.api.call import Call
from unmask.api.common import common
from unmask.api.rate_limits import limit_headers
from unmask.api.stopwatch import Stopwatch
from unmask.cache.cache import Match
from unmask.ledger.limit import Standing

STEPS = "x-unmask-steps"
BUCKET = "x-unmask-bucket"
OVERHEAD = "x-unmask-overhead-ms"
CACHE = "x-unmask-cache"
MIXED = "mixed"
"""Of choices that were found in different ways."""


def answer_headers(
    call: Call, stopwatch: Stopwatch, standings: Sequence[Standing] = (), matches: Collection[Match] = ()
) -> dict[str, str]:
    """Return what is known of every answer once its headers go out.

    Args:
        call: what is answered.
        stopwatch: of this call.
        standings: the caller's limits.
        matches: how the cache has found choices; as long as that is not known of all, nothing is said of it.
    """
    headers = {OVERHEAD: f"{stopwatch.overhead_s() * 1000:.3f}", **limit_headers(standings)}
    if matches and len(matches) == len(call.requests):
        headers[CACHE] = common(matches) or MIXED
    bucket = common(admitted.assignment.bucket for admitted in call.admitted)
    return headers if bucket is None else {**headers, BUCKET: bucket.value}
