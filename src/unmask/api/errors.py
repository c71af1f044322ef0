"""What can be wrong with a request at the edge, before or beside what a backend says."""

from unmask.errors import InvalidRequestError, RetryLaterError, UnmaskError, shown
from unmask.types import Outcome

RETRY_AFTER_S = 1.0


class MalformedBodyError(UnmaskError):
    """The body is not one JSON object."""


class UnknownFieldError(InvalidRequestError):
    """The request has a field that does not exist."""


class UnsupportedFieldError(InvalidRequestError):
    """The request asks for something that exists elsewhere and is not supported here yet."""


class UnreadBodyError(UnmaskError):
    """The body is given up before its end, so nothing else can come over its connection."""


class BodyTooLargeError(UnreadBodyError):
    """The body is longer than the server takes."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"The body is longer than {limit} bytes. Shorten the messages.")
        self.args = (limit,)
        self.limit = limit


class BodyTimeoutError(UnreadBodyError):
    """The body arrives too slowly."""

    def __init__(self, received: int, seconds: float) -> None:
        super().__init__(f"Only {received} bytes of the body arrived in {seconds:g} s. Send the request again, faster.")
        self.args = (received, seconds)


class EncodingError(UnreadBodyError):
    """The body is compressed."""

    def __init__(self, encoding: str) -> None:
        super().__init__(f"content-encoding is {shown(encoding)}, allowed: identity. Send the body uncompressed.")
        self.args = (encoding,)


class InvalidHttpError(UnmaskError):
    """What arrived is no request of HTTP/1.1 or 1.0."""


class TargetTooLongError(UnmaskError):
    """The request's path and query are longer than the server takes."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"The request's path and query are longer than {limit} bytes. Put values into the body.")
        self.args = (limit,)


class HeadersTooLargeError(UnmaskError):
    """The request has more headers, or more bytes of them, than the server takes."""

    def __init__(self, count: int, size: int) -> None:
        super().__init__(f"The request's headers are more than {count}, or longer than {size} bytes. Send fewer.")
        self.args = (count, size)


class HeadersTimeoutError(UnmaskError):
    """The headers of a request arrive too slowly."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"The request's headers did not arrive within {seconds:g} s. Send the request again, faster.")
        self.args = (seconds,)


class ConnectionsError(RetryLaterError):
    """Every connection the server may hold is at work."""

    def __init__(self, limit: int) -> None:
        message = f"{limit} connections are open and at work, which is as many as may. Send the request again later."
        super().__init__(message, retry_after_s=RETRY_AFTER_S)
        self.args = (limit,)


class ForeignHostError(UnmaskError):
    """The request calls this server by a name that is not its own."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"host is {shown(host)}, allowed: this machine's own names and those of the setting allowed_hosts. "
            f"Add the name there if it is yours.",
        )
        self.args = (host,)


class ForeignOriginError(UnmaskError):
    """A web page from elsewhere makes the request."""

    def __init__(self, origin: str) -> None:
        super().__init__(
            f"origin is {shown(origin)}, allowed: pages of this machine and of the hosts in the setting allowed_hosts. "
            f"Add the page's host there if it is yours.",
        )
        self.args = (origin,)


class UnknownPathError(UnmaskError):
    """No endpoint has this path."""


class UnknownEntryError(UnmaskError):
    """The cache holds no such answer, or none that the caller may know of."""

    def __init__(self, entry: str) -> None:
        super().__init__(
            f"{shown(entry)} is no answer of the cache: it is gone already, or another tenant's. Answers name theirs "
            "in usage.diffusion.cache.entry."
        )
        self.args = (entry,)


class MethodNotAllowedError(UnmaskError):
    """The path exists and is not called with this method."""


class ClientGoneError(UnmaskError):
    """The client hung up before its answer; nobody reads what is sent."""


class StalledClientError(ClientGoneError):
    """The client keeps the connection and does not read its answer."""

    def __init__(self, stalled_s: float) -> None:
        super().__init__(f"The client read nothing of its answer for {stalled_s:g} s.")
        self.args = (stalled_s,)


class UnfinishedError(UnmaskError):
    """A generation ended without an answer: the server failed or stopped it."""

    def __init__(self, message: str, outcome: Outcome) -> None:
        super().__init__(message)
        self.args = (message, outcome)
        self.outcome = outcome
