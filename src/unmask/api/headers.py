"""Headers that say how a call was served."""

from unmask.api.call import Call
from unmask.api.common import common
from unmask.api.stopwatch import Stopwatch

STEPS = "x-unmask-steps"
BUCKET = "x-unmask-bucket"
OVERHEAD = "x-unmask-overhead-ms"


def answer_headers(call: Call, stopwatch: Stopwatch) -> dict[str, str]:
    """Return what is known of every answer once its headers go out."""
    headers = {OVERHEAD: f"{stopwatch.overhead_s() * 1000:.3f}"}
    bucket = common(admitted.assignment.bucket for admitted in call.admitted)
    return headers if bucket is None else {**headers, BUCKET: bucket.value}
