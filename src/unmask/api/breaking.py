"""What becomes of a call's books when it ends without an answer."""

from asyncio import CancelledError

from unmask.api.errors import ClientGoneError, UnfinishedError
from unmask.api.status import status_of
from unmask.control.account import BrokenOff
from unmask.control.errors import CapReachedError
from unmask.errors import InvalidRequestError, RetryLaterError, UnmaskError
from unmask.types import Outcome

CLIENT_GONE = "client_gone"
UNFORESEEN = "internal_error"


def broken_off(error: BaseException | None) -> BrokenOff:
    """Return how a call ends that an error ends; without one its client went away.

    A client that goes away pays for what was executed by then, and so does one whose service class fails it. For what
    the server failed or stopped nobody pays.
    """
    match error:
        case None | CancelledError() | GeneratorExit() | ClientGoneError():
            return BrokenOff(outcome=Outcome.ABORTED, reason=CLIENT_GONE, billed=True)
        case CapReachedError():
            return BrokenOff(outcome=Outcome.FAILED, reason=reason_of(error), billed=True, cap_applied=True)
        case UnfinishedError():
            return BrokenOff(outcome=error.outcome, reason=reason_of(error))
        case InvalidRequestError() | RetryLaterError():
            return BrokenOff(outcome=Outcome.FAILED, reason=reason_of(error), is_refusal=True)
        case UnmaskError():
            return BrokenOff(outcome=Outcome.FAILED, reason=reason_of(error))
        case _:
            return BrokenOff(outcome=Outcome.FAILED, reason=UNFORESEEN)


def reason_of(error: UnmaskError) -> str:
    """Return the word for an error, which is the code that the client is told."""
    return status_of(error).code or ""
