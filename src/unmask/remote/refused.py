"""From a status that is no success to the error it is."""

import json
from http import HTTPStatus

from unmask.remote.errors import (
    LONGEST_EXCERPT,
    RequestRefusedError,
    UpstreamBusyError,
    UpstreamError,
    UpstreamFailedError,
    UpstreamProtocolError,
    UpstreamRefusedError,
    UpstreamUnavailableError,
)
from unmask.remote.retrying import retry_after_s

_UNAVAILABLE = frozenset({502, 503, 504})
_OF_THE_REQUEST = frozenset({400, 413, 422})
_OF_THE_KEY = frozenset({401, 403})


def error_of(upstream: str, status: int, content: str, *, after: str | None, now: float) -> UpstreamError:
    """Return the error that a response is.

    Args:
        upstream: its name.
        status: what it answers.
        content: beginning of its body. It is repeated, shortened, but for statuses about the key: some servers repeat
            most of the key there.
        after: its ``Retry-After`` header.
        now: seconds since 1970.
    """
    if status < 400:
        redirect = ", which is not followed; set url to where it really is" if status >= 300 else ""
        return UpstreamProtocolError(upstream, f"it answers {status}{redirect}, allowed: 200 with a stream")
    if status in _OF_THE_KEY:
        return UpstreamRefusedError(upstream, f"it answers {status}: the key is missing, wrong, or may not do this")
    reason = f"it answers {status}: {_message(content)}"
    after_s = retry_after_s(after, now)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return UpstreamBusyError(upstream, reason, retry_after_s=after_s)
    if status in _UNAVAILABLE:
        return UpstreamUnavailableError(upstream, reason, retry_after_s=after_s)
    if status in _OF_THE_REQUEST:
        return RequestRefusedError(upstream, reason)
    return (UpstreamFailedError if status >= 500 else UpstreamRefusedError)(upstream, reason)


def _message(content: str) -> str:
    """Return the message of an error's body in the shape of the OpenAI API, or of others the beginning of it all."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    error = found.get("error") if isinstance(found, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    text = message if isinstance(message, str) else content
    # One line of what can be shown: the body is somebody else's.
    plain = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return plain if len(plain) <= LONGEST_EXCERPT else plain[:LONGEST_EXCERPT] + "…"
