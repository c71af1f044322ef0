"""The exception tree: every error a caller may meet, each naming what is wrong and what to do.

Which HTTP status an error becomes is decided in one table in `unmask.api`.
"""

from collections.abc import Iterable
from reprlib import Repr
from typing import ClassVar

LONGEST_VALUE = 80
"""A value is shortened to about this many characters before it goes into a message."""


class UnmaskError(Exception):
    """Root of the tree; carries a sentence and, where one field is at fault, its name.

    Attributes:
        is_list: whether each line of the message is a fault of its own, such as of a file; else it is one sentence.
    """

    is_list: ClassVar[bool] = False

    def __init__(self, message: str, *, param: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.param = param

    def __str__(self) -> str:
        """Return the message whatever arguments a subclass takes."""
        return self.message


class InvalidRequestError(UnmaskError):
    """A field of a request has a value that is not allowed.

    The message names the value, what is allowed and how to put it right. Long
    values are shortened, so that a message never echoes a whole request.
    """

    def __init__(self, param: str, value: object, allowed: str, fix: str) -> None:
        super().__init__(f"{param} is {shown(value)}, allowed: {allowed}. {fix}", param=param)
        self.args = (param, value, allowed, fix)
        self.value = value
        self.allowed = allowed
        self.fix = fix


class ContextLengthError(InvalidRequestError):
    """Prompt and requested output together do not fit into the model's context."""

    def __init__(self, prompt_tokens: int, max_tokens: int, limit: int, *, param: str = "messages") -> None:
        super().__init__(
            param,
            f"{prompt_tokens} prompt tokens + {max_tokens} output tokens",
            f"at most {limit} tokens together",
            "Shorten the prompt or lower max_tokens.",
        )
        self.args = (prompt_tokens, max_tokens, limit)
        self.limit = limit


class UnknownModelError(InvalidRequestError):
    """The request names a model that is not served here."""

    def __init__(self, value: object, known: Iterable[str]) -> None:
        names = tuple(known)
        super().__init__("model", value, ", ".join(names) or "none is loaded", "Ask /v1/models for the names.")
        self.args = (value, names)


class RetryLaterError(UnmaskError):
    """The request is fine and the server cannot take it at present."""

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class QueueFullError(RetryLaterError):
    """The queue of the request's service class holds as many requests as it may."""


class DeadlineError(RetryLaterError):
    """The request would be answered later than its service class answers requests."""


class NoCapacityError(RetryLaterError):
    """Nothing here makes progress that could serve the request."""


class DrainingError(RetryLaterError):
    """The server finishes what it has and takes nothing new."""


class ConfigError(UnmaskError):
    """Settings do not fit together or cannot be read; `param` is the path of the setting."""


class WeightsError(UnmaskError):
    """Model weights are missing, damaged or do not match their description."""


class CheckpointFolderError(WeightsError):
    """The folder of a published checkpoint lacks something, or holds what cannot be served; names file and fix."""


class CheckpointError(UnmaskError):
    """A checkpoint could not be written or read: disk full, no permission, cut short."""


def shown(value: object) -> str:
    """Write a value into a message, shortened, so that a message never echoes a whole request."""
    short = Repr()
    short.maxstring = short.maxother = short.maxlong = LONGEST_VALUE
    return short.repr(value)
