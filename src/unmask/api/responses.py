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


def error_body(error: UnmaskError) -> dict[str, object]:
    """Return the OpenAI error body of an error."""
    status = status_of(error)
    body = {"message": error.message, "type": status.type, "param": error.param, "code": status.code}
    return {"error": body}


def error_response(error: UnmaskError, *, headers: Mapping[str, str] | None = None) -> Response:
    """Answer with an error's status and its body; ``retry-after`` where the error says when."""
    all_headers = {**(headers or {}), **_retry_headers(error)}
    return json_response(error_body(error), status=status_of(error).http, headers=all_headers)


def unforeseen(request_id: str) -> UnmaskError:
    """Return what a client is told of an error that only the log knows."""
    return UnmaskError(f"The server failed on this request; its log says why under {request_id}.")


def _retry_headers(error: UnmaskError) -> dict[str, str]:
    if not isinstance(error, RetryLaterError) or error.retry_after_s is None:
        return {}
    # Clients of the OpenAI API read both: whole seconds by the standard, and milliseconds where they know the header.
    return {
        "retry-after": str(math.ceil(error.retry_after_s)),
        "retry-after-ms": str(math.ceil(error.retry_after_s * 1000)),
    }
