"""Bytes that leave: JSON answers and error bodies in the shape of the OpenAI API."""

import math
from collections.abc import Mapping

import orjson
from starlette.responses import Response

from unmask.api.status import status_of
from unmask.errors import RetryLaterError, UnmaskError


def json_response(content: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Answer with compact JSON."""
    return Response(orjson.dumps(content), status_code=status, headers=headers, media_type="application/json")


def error_response(error: UnmaskError, *, headers: Mapping[str, str] | None = None) -> Response:
    """Answer with an error's status and the OpenAI error body; ``retry-after`` where the error says when."""
    status = status_of(error)
    body = {"message": error.message, "type": status.type, "param": error.param, "code": status.code}
    return json_response({"error": body}, status=status.http, headers={**(headers or {}), **_retry_headers(error)})


def _retry_headers(error: UnmaskError) -> dict[str, str]:
    if not isinstance(error, RetryLaterError) or error.retry_after_s is None:
        return {}
    # Clients of the OpenAI API read both: whole seconds by the standard, and milliseconds where they know the header.
    return {
        "retry-after": str(math.ceil(error.retry_after_s)),
        "retry-after-ms": str(math.ceil(error.retry_after_s * 1000)),
    }
