"""Headers that say how a call was served."""

from collections.abc import Sequence

from unmask.api.call import Call
from unmask.api.common import common
from unmask.api.rate_limits import limit_headers
from unmask.api.stopwatch import Stopwatch
from unmask.ledger.limit import Standing

STEPS = "x-unmask-steps"
BUCKET = "x-unmask-bucket"
OVERHEAD = "x-unmask-overhead-ms"


def answer_headers(call: Call, stopwatch: Stopwatch, standings: Sequence[Standing] = ()) -> dict[str, str]:
    """Return what is known of every answer once its headers go out; ``standings`` are its caller's limits."""
    headers = {OVERHEAD: f"{stopwatch.overhead_s() * 1000:.3f}", **limit_headers(standings)}
    bucket = common(admitted.assignment.bucket for admitted in call.admitted)
    return headers if bucket is None else {**headers, BUCKET: bucket.value}
