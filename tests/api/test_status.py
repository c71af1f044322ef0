"""Behaviour of `unmask.api.status` and `unmask.api.responses`."""

import inspect
from collections.abc import Iterator

import orjson
import pytest

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
    StalledClientError,
    TargetTooLongError,
    UnfinishedError,
    UnknownEntryError,
    UnknownFieldError,
    UnknownPathError,
    UnsupportedFieldError,
)
from unmask.api.responses import error_response
from unmask.api.status import STATUS, Status, status_of
from unmask.control.errors import AnswerFailedError, BudgetSpentError
from unmask.errors import (
    CheckpointError,
    ConfigError,
    ContextLengthError,
    DeadlineError,
    DrainingError,
    InvalidRequestError,
    NoCapacityError,
    QueueFullError,
    RetryLaterError,
    UnknownModelError,
    UnmaskError,
    WeightsError,
)
from unmask.ledger.errors import (
    DuplicateRequestError,
    IdempotencyMismatchError,
    LimitExceededError,
    ReservationLostError,
)
from unmask.ledger.limit import Limit, LimitKind
from unmask.remote.errors import (
    CircuitOpenError,
    RequestRefusedError,
    SilentError,
    UnsupportedByUpstreamError,
    UpstreamBusyError,
    UpstreamError,
    UpstreamFailedError,
    UpstreamQueueError,
    UpstreamTimeoutError,
)
from unmask.tenants.errors import KeyMissingError, KeyRefusedError, KeysUnavailableError, RoleError, WrongKeysError
from unmask.types import Outcome

LIMIT = Limit(scope="tenant:acme", kind=LimitKind.REQUESTS, window_s=60, amount=10)
ERRORS: tuple[tuple[UnmaskError, int, str, str], ...] = (
    (UnsupportedByUpstreamError("p", 1, "m"), 400, "invalid_request_error", "unsupported_parameter"),
    (RequestRefusedError("u", "m"), 400, "invalid_request_error", "upstream_refused"),
    (UpstreamBusyError("u", "m"), 429, "rate_limit_error", "upstream_busy"),
    (UpstreamQueueError("u", "m"), 429, "rate_limit_error", "queue_full"),
    (UpstreamError("u", "m"), 502, "server_error", "upstream_failed"),
    (UpstreamFailedError("u", "m"), 502, "server_error", "upstream_failed"),
    (UpstreamTimeoutError("u", "m"), 504, "server_error", "upstream_timeout"),
    (SilentError("u", "m"), 504, "server_error", "upstream_timeout"),
    (CircuitOpenError("u", "m"), 503, "service_unavailable_error", "no_capacity"),
    (InvalidHttpError("m"), 400, "invalid_request_error", "invalid_http"),
    (MalformedBodyError("m"), 400, "invalid_request_error", "invalid_json"),
    (InvalidRequestError("p", 1, "2", "Fix."), 400, "invalid_request_error", "invalid_value"),
    (UnknownFieldError("p", 1, "2", "Fix."), 400, "invalid_request_error", "unknown_parameter"),
    (UnsupportedFieldError("p", 1, "2", "Fix."), 400, "invalid_request_error", "unsupported_parameter"),
    (ContextLengthError(9, 9, 9), 400, "invalid_request_error", "context_length_exceeded"),
    (KeyMissingError(), 401, "invalid_request_error", "invalid_api_key"),
    (KeyRefusedError(), 401, "invalid_request_error", "invalid_api_key"),
    (RoleError(("operator",), ()), 403, "invalid_request_error", "insufficient_permissions"),
    (ForeignHostError("h"), 403, "invalid_request_error", "host_not_allowed"),
    (ForeignOriginError("o"), 403, "invalid_request_error", "origin_not_allowed"),
    (UnknownModelError("m", ()), 404, "invalid_request_error", "model_not_found"),
    (UnknownPathError("m"), 404, "invalid_request_error", "unknown_path"),
    (MethodNotAllowedError("m"), 405, "invalid_request_error", "method_not_allowed"),
    (HeadersTimeoutError(1.0), 408, "invalid_request_error", "headers_timeout"),
    (BodyTimeoutError(9, 1.0), 408, "invalid_request_error", "body_timeout"),
    (BodyTooLargeError(9), 413, "invalid_request_error", "body_too_large"),
    (TargetTooLongError(9), 414, "invalid_request_error", "target_too_long"),
    (EncodingError("gzip"), 415, "invalid_request_error", "unsupported_encoding"),
    (HeadersTooLargeError(9, 9), 431, "invalid_request_error", "headers_too_large"),
    (DuplicateRequestError("k", first="r", ending=None), 409, "invalid_request_error", "duplicate_request"),
    (IdempotencyMismatchError("k", first="r"), 422, "invalid_request_error", "idempotency_mismatch"),
    (ReservationLostError("m"), 503, "service_unavailable_error", "unavailable"),
    (BudgetSpentError(9, "interactive", 16), 422, "invalid_request_error", "budget_spent"),
    (AnswerFailedError(2, "batch", "deadline", "why"), 422, "invalid_request_error", "verification_failed"),
    (WrongKeysError(60, retry_after_s=9.0), 429, "rate_limit_error", "too_many_wrong_keys"),
    (QueueFullError("m"), 429, "rate_limit_error", "queue_full"),
    (
        LimitExceededError(LIMIT, used=9, asked=2, retry_after_s=1.0),
        429,
        "rate_limit_error",
        "rate_limit_exceeded",
    ),
    (
        LimitExceededError(LIMIT, used=0, asked=11, retry_after_s=None),
        429,
        "insufficient_quota",
        "insufficient_quota",
    ),
    (KeysUnavailableError(1.0), 503, "service_unavailable_error", "unavailable"),
    (DeadlineError("m"), 429, "rate_limit_error", "deadline"),
    (ClientGoneError("m"), 499, "invalid_request_error", "client_gone"),
    (StalledClientError(9), 499, "invalid_request_error", "client_gone"),
    (DrainingError("m"), 503, "service_unavailable_error", "draining"),
    (ConnectionsError(9), 503, "service_unavailable_error", "too_many_connections"),
    (NoCapacityError("m"), 503, "service_unavailable_error", "no_capacity"),
    (RetryLaterError("m"), 503, "service_unavailable_error", "unavailable"),
    (UnfinishedError("m", Outcome.ABORTED), 503, "service_unavailable_error", "aborted"),
    (UnfinishedError("m", Outcome.FAILED), 500, "server_error", "generation_failed"),
    (UnknownEntryError("e"), 404, "invalid_request_error", "unknown_cache_entry"),
    (UnmaskError("m"), 500, "server_error", "internal_error"),
    (ConfigError("m"), 500, "server_error", "internal_error"),
    (WeightsError("m"), 500, "server_error", "internal_error"),
    (CheckpointError("m"), 500, "server_error", "internal_error"),
)


@pytest.mark.parametrize(("error", "http", "kind", "code"), ERRORS, ids=lambda value: getattr(value, "code", None))
def test_error_has_its_status(error: UnmaskError, http: int, kind: str, code: str) -> None:
    """Each error becomes one status, type and code."""
    assert status_of(error) == Status(http=http, type=kind, code=code)


def test_every_row_is_seen_above() -> None:
    """No row of the table goes untested."""
    seen = {type(error) for error, *_ in ERRORS} | set(Outcome)

    assert set(STATUS) <= seen


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_has_a_row(outcome: Outcome) -> None:
    """A new way to end cannot be forgotten; only completion is a success."""
    status = status_of(outcome)

    assert (status.http == 200) == (outcome is Outcome.COMPLETED)
    assert (status.type is None) == (outcome is Outcome.COMPLETED)


def subclasses(kind: type[UnmaskError]) -> Iterator[type[UnmaskError]]:
    """Yield every class of the tree."""
    yield kind
    for below in kind.__subclasses__():
        yield from subclasses(below)


def test_no_caller_mistake_is_a_server_error() -> None:
    """Whatever is derived from an invalid request keeps a status below 500."""
    found = [kind for kind in subclasses(InvalidRequestError) if kind.__module__.startswith("unmask.")]
    statuses = {next(STATUS[base] for base in inspect.getmro(kind) if base in STATUS).http for kind in found}

    assert statuses <= set(range(400, 500))


def test_body_has_the_shape_of_the_openai_api() -> None:
    """Four fields below ``error``, and nothing else."""
    response = error_response(UnknownModelError("x", ["tiny"]))

    assert response.status_code == 404
    assert orjson.loads(response.body) == {
        "error": {
            "message": "model is 'x', allowed: tiny. Ask /v1/models for the names.",
            "type": "invalid_request_error",
            "param": "model",
            "code": "model_not_found",
        }
    }


def test_retry_after_is_told_where_it_is_known() -> None:
    """Clients read when to come back, in whole seconds and in milliseconds."""
    response = error_response(QueueFullError("full", retry_after_s=0.25))

    assert (response.headers["retry-after"], response.headers["retry-after-ms"]) == ("1", "250")
    assert "retry-after" not in error_response(QueueFullError("full")).headers


@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [
        (QueueFullError("full"), 429, "queue_full"),
        (DeadlineError("late", retry_after_s=3.0), 429, "deadline"),
        (NoCapacityError("stuck"), 503, "no_capacity"),
        (DrainingError("draining"), 503, "draining"),
    ],
)
def test_refusals_name_their_reason_in_a_header(error: RetryLaterError, status: int, reason: str) -> None:
    """For whoever routes requests; other errors have no such header."""
    response = error_response(error)

    assert (response.status_code, response.headers["x-unmask-reason"]) == (status, reason)
    assert "x-unmask-reason" not in error_response(UnmaskError("broken")).headers
