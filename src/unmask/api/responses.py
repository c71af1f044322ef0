"""Bytes that leave: JSON answers and error bodies in the shape of the OpenAI API."""

import math
from collections.abc import Mapping

import orjson
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from unmask.api.costs import cost_usage
from unmask.api.rate_limits import SHOULD_RETRY, refusal_headers
from unmask.api.status import status_of
from unmask.api.usage import spent_usage
from unmask.control.errors import CapReachedError
from unmask.errors import RetryLaterError, UnmaskError
from unmask.ledger.errors import DuplicateRequestError, IdempotencyMismatchError, LimitExceededError

REASON = "x-unmask-reason"
"""Why a request is not taken at present: the error's code, where whoever routes requests finds it unread."""
ERROR_CODE = "error_code"
"""Where in the scope's state the code of the error that answers a request is noted."""


class _ErrorResponse(Response):
    """An error that is noted in the scope once it is the answer, so that it is counted wherever it was raised."""

    media_type = "application/json"

    def __init__(self, error: UnmaskError, headers: Mapping[str, str]) -> None:
        super().__init__(orjson.dumps(error_body(error)), status_code=status_of(error).http, headers=headers)
        self._error = error

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        note_error(scope, self._error)
        await super().__call__(scope, receive, send)


def note_error(scope: Scope, error: UnmaskError) -> None:
    """Note that a request is answered with an error; for answers that say so in a form of their own."""
    scope.setdefault("state", {})[ERROR_CODE] = status_of(error).code


def json_response(content: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Answer with compact JSON."""
    return Response(orjson.dumps(content), status_code=status, headers=headers, media_type="application/json")


def error_body(error: UnmaskError) -> dict[str, object]:
    """Return the OpenAI error body of an error."""
    status = status_of(error)
    body = {"message": error.message, "type": status.type, "param": error.param, "code": status.code}
    return {"error": body, **_spent(error)}


def error_response(error: UnmaskError, *, headers: Mapping[str, str] | None = None) -> Response:
    """Answer with an error's status and its body; ``retry-after`` where the error says when."""
    return _ErrorResponse(error, {**(headers or {}), **_retry_headers(error)})


def unforeseen(request_id: str) -> UnmaskError:
    """Return what a client is told of an error that only the log knows."""
    return UnmaskError(f"The server failed on this request; its log says why under {request_id}.")


def _spent(error: UnmaskError) -> dict[str, object]:
    """Say what a request cost that its service class fails: its steps were taken."""
    if not isinstance(error, CapReachedError) or error.answered is None or error.admitted is None:
        return {}
    return {"usage": {**spent_usage(error.answered, error.admitted), **cost_usage(error.settled)}}


def _repetition_headers(error: UnmaskError) -> Mapping[str, str]:
    """Keep clients from sending again what will be refused again; while the first request runs, it may yet fail."""
    is_final = isinstance(error, IdempotencyMismatchError) or (
        isinstance(error, DuplicateRequestError) and error.ending is not None
    )
    return {SHOULD_RETRY: "false"} if is_final else {}


def _retry_headers(error: UnmaskError) -> dict[str, str]:
    limits = refusal_headers(error) if isinstance(error, LimitExceededError) else _repetition_headers(error)
    if not isinstance(error, RetryLaterError):
        return {**limits}
    reason = {REASON: status_of(error).code or "", **limits}
    if error.retry_after_s is None:
        return reason
    # Clients of the OpenAI API read both: whole seconds by the standard, and milliseconds where they know the header.
    return {
        **reason,
        "retry-after": str(math.ceil(error.retry_after_s)),
        "retry-after-ms": str(math.ceil(error.retry_after_s * 1000)),
    }
