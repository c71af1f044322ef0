"""Server-sent events, as bytes."""

import orjson

from unmask.api.responses import error_body
from unmask.errors import UnmaskError

DONE = b"data: [DONE]\n\n"
COMMENT = b": still working\n\n"
"""What clients skip; it shows everyone on the way that the connection is alive."""
SNAPSHOT = "unmask.snapshot"
"""Name of the events that carry drafts."""

_LINE_ENDS = tuple((end.encode(), f"\\u{ord(end):04x}".encode()) for end in "\u0085\u2028\u2029")
"""What some clients take for the end of a line though it is none here, and the JSON escape of each."""


def data_event(value: object, *, name: str | None = None) -> bytes:
    """Return an event that carries JSON."""
    raw = orjson.dumps(value)
    for end, escape in _LINE_ENDS:
        raw = raw.replace(end, escape)
    head = b"" if name is None else b"event: " + name.encode() + b"\n"
    return head + b"data: " + raw + b"\n\n"


def error_event(error: UnmaskError) -> bytes:
    """Return the event that tells of an error once the headers are out: the body the error has as an answer."""
    return data_event(error_body(error))
