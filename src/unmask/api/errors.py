"""What can be wrong with a request at the edge, before or beside what a backend says."""

from unmask.errors import InvalidRequestError, UnmaskError
from unmask.types import Outcome


class MalformedBodyError(UnmaskError):
    """The body is not one JSON object."""


class UnknownFieldError(InvalidRequestError):
    """The request has a field that does not exist."""


class UnsupportedFieldError(InvalidRequestError):
    """The request asks for something that exists elsewhere and is not supported here yet."""


class BodyTooLargeError(UnmaskError):
    """The body is longer than the server takes."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"The body is longer than {limit} bytes. Shorten the messages.")
        self.args = (limit,)
        self.limit = limit


class UnknownPathError(UnmaskError):
    """No endpoint has this path."""


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
