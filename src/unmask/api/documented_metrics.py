"""The metrics' text, for the OpenAPI document."""

from typing import Any

_TEXT = """\
# HELP unmask_requests_waiting Generations that wait for a place in the batch.
# TYPE unmask_requests_waiting gauge
unmask_requests_waiting{model="tiny"} 0.0
"""

METRICS: dict[str, Any] = {
    "description": "All metrics; `docs/metrics.md` lists them.",
    "content": {
        "text/plain": {"schema": {"type": "string"}, "example": _TEXT},
        "application/openmetrics-text": {"schema": {"type": "string"}, "example": f"{_TEXT}# EOF\n"},
    },
}
