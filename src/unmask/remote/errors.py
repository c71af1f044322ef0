"""What can go wrong with an upstream: each error names it, and says whether asking again may help."""

from typing import ClassVar

from unmask.errors import InvalidRequestError, RetryLaterError, UnmaskError

LONGEST_EXCERPT = 200
"""Characters of an upstream's own words that a message repeats."""


class UpstreamError(UnmaskError):
    """An upstream has not answered a request.

    Attributes:
        upstream: its name in the configuration; never its key.
        may_retry: whether the same request sent again, before anything of an answer was passed on, may fare better.
        retry_after_s: seconds that the upstream asks to be left alone for, where it says so.
    """

    may_retry: ClassVar[bool] = False
    is_unhealthy: ClassVar[bool] = True
    """Whether it speaks against the upstream, so that the circuit breaker counts it."""

    def __init__(self, upstream: str, reason: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(f"upstream {upstream}: {reason}")
        self.upstream = upstream
        self.reason = reason
        self.retry_after_s = retry_after_s


class UnreachableError(UpstreamError):
    """No connection to it could be made, or it was broken before the answer began."""

    may_retry = True


class ForbiddenAddressError(UpstreamError):
    """Its name stands for an address that this server does not connect to."""


class UpstreamTimeoutError(UpstreamError):
    """It took longer than it may: to begin its answer, to go on with it, or to end it."""


class SilentError(UpstreamTimeoutError):
    """Its answer has not begun in time. It may be at work on it still, so the request is not sent again."""


class UpstreamFailedError(UpstreamError):
    """It answers with a status of 500 or more that tells of an error of its own."""


class UpstreamUnavailableError(UpstreamError):
    """It answers 502, 503 or 504: it has not taken the request."""

    may_retry = True


class UpstreamBusyError(UpstreamError, RetryLaterError):
    """It answers 429: it is well, and asks to be left alone for a while."""

    may_retry = True
    is_unhealthy = False


class UpstreamRefusedError(UpstreamError):
    """It refuses with a status of 400 or more: the key, the path or the model, which the operator has to put right."""


class RequestRefusedError(UpstreamRefusedError):
    """It refuses this very request, with status 400, 413 or 422: the same again would be refused again."""

    is_unhealthy = False


class WithheldError(UpstreamError):
    """It ends its answer for another reason than that it is whole or long enough: a filter, or a tool to be called."""

    is_unhealthy = False


class UpstreamProtocolError(UpstreamError):
    """What it answers is no stream of chat completion chunks."""


class BrokenOffError(UpstreamProtocolError):
    """Its answer broke off: the connection went, or the stream ended without saying so."""


class UpstreamTooMuchError(UpstreamError):
    """Its answer is larger than an answer to this request can be."""


class UpstreamChangedError(UpstreamError):
    """It answers for another model than before."""


class UpstreamErrorEventError(UpstreamError):
    """It tells of an error inside an answer that had begun well."""


class CircuitOpenError(UpstreamError, RetryLaterError):
    """It has failed so often that it is left alone for a while."""

    is_unhealthy = False


class UpstreamQueueError(UpstreamError, RetryLaterError):
    """As many requests are at it, and as many wait, as may."""

    is_unhealthy = False


class UnsupportedByUpstreamError(InvalidRequestError):
    """A field asks for something that the upstream cannot do, or does not say it does."""

    def __init__(self, param: str, value: object, model: str) -> None:
        super().__init__(
            param,
            value,
            "nothing",
            f"{model} is served by another server, which has no such control: leave it out.",
        )
        self.args = (param, value, model)
        self.model = model
