"""The one table that says what an outcome or error is as an HTTP status."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from unmask.api.errors import (
    BodyTimeoutError,
    BodyTooLargeError,
    ClientGoneError,
    ConnectionsError,
    EncodingError,
    ForeignHostError,
    ForeignOriginError,
    HeadersTimeoutError,
    HeadersTooLargeError,
    InvalidHttpError,
    MalformedBodyError,
    MethodNotAllowedError,
    TargetTooLongError,
    UnfinishedError,
    UnknownEntryError,
    UnknownFieldError,
    UnknownPathError,
    UnsupportedFieldError,
)
from unmask.api.rate_limits import is_budget
from unmask.control.errors import AnswerFailedError, BudgetSpentError
from unmask.errors import (
    ContextLengthError,
    DeadlineError,
    DrainingError,
    InvalidRequestError,
    NoCapacityError,
    QueueFullError,
    RetryLaterError,
    UnknownModelError,
    UnmaskError,
)
from unmask.ledger.errors import (
    DuplicateRequestError,
    IdempotencyMismatchError,
    LimitExceededError,
    ReservationLostError,
)
from unmask.remote.errors import (
    CircuitOpenError,
    RequestRefusedError,
    UnsupportedByUpstreamError,
    UpstreamBusyError,
    UpstreamError,
    UpstreamQueueError,
    UpstreamTimeoutError,
)
from unmask.tenants.errors import KeyMissingError, KeyRefusedError, RoleError, WrongKeysError
from unmask.types import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """HTTP status, and ``type`` and ``code`` of the error body; both are ``None`` for a success."""

    http: int
    type: str | None = None
    code: str | None = None


_INVALID = "invalid_request_error"
_SERVER = "server_error"
_RATE = "rate_limit_error"
_UNAVAILABLE = "service_unavailable_error"

STATUS: Mapping[Outcome | type[UnmaskError], Status] = MappingProxyType(
    {
        Outcome.COMPLETED: Status(http=200),
        Outcome.ABORTED: Status(http=503, type=_UNAVAILABLE, code="aborted"),
        Outcome.FAILED: Status(http=500, type=_SERVER, code="generation_failed"),
        InvalidHttpError: Status(http=400, type=_INVALID, code="invalid_http"),
        MalformedBodyError: Status(http=400, type=_INVALID, code="invalid_json"),
        InvalidRequestError: Status(http=400, type=_INVALID, code="invalid_value"),
        UnknownFieldError: Status(http=400, type=_INVALID, code="unknown_parameter"),
        UnsupportedFieldError: Status(http=400, type=_INVALID, code="unsupported_parameter"),
        ContextLengthError: Status(http=400, type=_INVALID, code="context_length_exceeded"),
        KeyMissingError: Status(http=401, type=_INVALID, code="invalid_api_key"),
        KeyRefusedError: Status(http=401, type=_INVALID, code="invalid_api_key"),
        RoleError: Status(http=403, type=_INVALID, code="insufficient_permissions"),
        ForeignHostError: Status(http=403, type=_INVALID, code="host_not_allowed"),
        ForeignOriginError: Status(http=403, type=_INVALID, code="origin_not_allowed"),
        UnsupportedByUpstreamError: Status(http=400, type=_INVALID, code="unsupported_parameter"),
        RequestRefusedError: Status(http=400, type=_INVALID, code="upstream_refused"),
        UnknownModelError: Status(http=404, type=_INVALID, code="model_not_found"),
        UnknownPathError: Status(http=404, type=_INVALID, code="unknown_path"),
        UnknownEntryError: Status(http=404, type=_INVALID, code="unknown_cache_entry"),
        MethodNotAllowedError: Status(http=405, type=_INVALID, code="method_not_allowed"),
        HeadersTimeoutError: Status(http=408, type=_INVALID, code="headers_timeout"),
        DuplicateRequestError: Status(http=409, type=_INVALID, code="duplicate_request"),
        BodyTimeoutError: Status(http=408, type=_INVALID, code="body_timeout"),
        BodyTooLargeError: Status(http=413, type=_INVALID, code="body_too_large"),
        TargetTooLongError: Status(http=414, type=_INVALID, code="target_too_long"),
        EncodingError: Status(http=415, type=_INVALID, code="unsupported_encoding"),
        # Not tried again by clients of the OpenAI API: the same request would spend the same steps.
        BudgetSpentError: Status(http=422, type=_INVALID, code="budget_spent"),
        AnswerFailedError: Status(http=422, type=_INVALID, code="verification_failed"),
        # The same request again would meet the same: the key stands for another one.
        IdempotencyMismatchError: Status(http=422, type=_INVALID, code="idempotency_mismatch"),
        HeadersTooLargeError: Status(http=431, type=_INVALID, code="headers_too_large"),
        QueueFullError: Status(http=429, type=_RATE, code="queue_full"),
        # Its money spent, it is another one: `BUDGET`.
        LimitExceededError: Status(http=429, type=_RATE, code="rate_limit_exceeded"),
        WrongKeysError: Status(http=429, type=_RATE, code="too_many_wrong_keys"),
        DeadlineError: Status(http=429, type=_RATE, code="deadline"),
        UpstreamBusyError: Status(http=429, type=_RATE, code="upstream_busy"),
        UpstreamQueueError: Status(http=429, type=_RATE, code="queue_full"),
        # Nobody reads this one; it is what a log would show.
        ClientGoneError: Status(http=499, type=_INVALID, code="client_gone"),
        UpstreamError: Status(http=502, type=_SERVER, code="upstream_failed"),
        UpstreamTimeoutError: Status(http=504, type=_SERVER, code="upstream_timeout"),
        CircuitOpenError: Status(http=503, type=_UNAVAILABLE, code="no_capacity"),
        DrainingError: Status(http=503, type=_UNAVAILABLE, code="draining"),
        ConnectionsError: Status(http=503, type=_UNAVAILABLE, code="too_many_connections"),
        NoCapacityError: Status(http=503, type=_UNAVAILABLE, code="no_capacity"),
        # Its process counted as dead: what was answered of it is charged to nobody.
        ReservationLostError: Status(http=503, type=_UNAVAILABLE, code="unavailable"),
        RetryLaterError: Status(http=503, type=_UNAVAILABLE, code="unavailable"),
        # Every error without a row of its own: settings, weights, checkpoints, and what nobody foresaw.
        UnmaskError: Status(http=500, type=_SERVER, code="internal_error"),
    }
)

BUDGET = Status(http=429, type="insufficient_quota", code="insufficient_quota")
"""Of a request whose tenant or key has spent what it may: trying again is of no use."""


def status_of(cause: Outcome | UnmaskError) -> Status:
    """Return the row of an outcome, or of an error's nearest class that has one."""
    if isinstance(cause, UnfinishedError):
        cause = cause.outcome
    if isinstance(cause, Outcome):
        return STATUS[cause]
    if isinstance(cause, LimitExceededError) and is_budget(cause):
        return BUDGET
    return next(STATUS[kind] for kind in type(cause).__mro__ if kind in STATUS)
