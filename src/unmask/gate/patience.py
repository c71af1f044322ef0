"""What is tried again: faults of the infrastructure, with pauses that no two callers share."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from unmask.backend import Generation
from unmask.clock import Clock
from unmask.errors import ContextLengthError, DrainingError, InvalidRequestError, RetryLaterError
from unmask.remote.errors import (
    ForbiddenAddressError,
    RequestRefusedError,
    UpstreamChangedError,
    UpstreamError,
    UpstreamRefusedError,
    WithheldError,
)
from unmask.remote.retrying import jitter_s
from unmask.types import Outcome

_Result = TypeVar("_Result")


def _unheard(_: str) -> None:
    pass


class FaultError(Exception):
    """The infrastructure has not answered; says nothing about the model.

    Attributes:
        may_retry: whether the same again may fare better.
        after_s: seconds that it asks to be left alone for, if it does.
    """

    def __init__(self, reason: str, *, may_retry: bool, after_s: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.may_retry = may_retry
        self.after_s = after_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a fault is borne with.

    Attributes:
        base_s: longest pause before the second try; it doubles with each.
        longest_s: longest pause of all, unless a server asks for a longer one.
        total_s: nothing is tried again later than so many seconds after the first try.
        most_tries: nor more often.
    """

    base_s: float = 1.0
    longest_s: float = 30.0
    total_s: float = 300.0
    most_tries: int = 20

    def pause_s(self, tried: int, waited_s: float, after_s: float | None, draw: float) -> float | None:
        """Return the seconds until the next try; nothing where there is to be none.

        Args:
            tried: tries that have failed, at least 1.
            waited_s: seconds since the first of them began.
            after_s: what the server asks for; jitter goes on top of it.
            draw: a number from 0 to 1.
        """
        pause = (after_s or 0.0) + jitter_s(tried, self.base_s, self.longest_s, draw)
        return None if tried >= self.most_tries or waited_s + pause > self.total_s else pause


@dataclass(frozen=True, slots=True, kw_only=True)
class Trying:
    """Tries until there is an answer or patience ends; time, chance and sleep are arguments.

    Attributes:
        notice: told the reason of each fault that is to be tried again, so that whoever waits knows what for.
    """

    clock: Clock
    rng: Random
    patience: Patience = field(default_factory=Patience)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    notice: Callable[[str], None] = _unheard

    async def until_answered(self, call: Callable[[], Awaitable[_Result]]) -> tuple[_Result, int]:
        """Return what a call returns, and how many tries that took.

        Raises:
            GaveUpError: the last fault, after all tries.
            UnmaskError: what no repetition can mend, such as a wrong key or a model that is not there.
        """
        begun = self.clock.now()
        tried = 0
        while True:
            tried += 1
            try:
                return await call(), tried
            except Exception as error:
                fault = fault_of(error)
                if fault is None:
                    raise
                waited = self.clock.now() - begun
                pause = self.patience.pause_s(tried, waited, fault.after_s, self.rng.random())
                if pause is None or not fault.may_retry:
                    raise GaveUpError(fault.reason, tried) from error
                self.notice(fault.reason)
            await self.sleep(pause)


class GaveUpError(Exception):
    """The infrastructure has not answered, however often it was asked."""

    def __init__(self, reason: str, tries: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.tries = tries


def fault_of(error: Exception) -> FaultError | None:
    """Return an error as a fault of the infrastructure; nothing where it is a mistake of whoever asks, or of ours."""
    match error:
        case FaultError():
            return error
        case ContextLengthError() | RequestRefusedError() | WithheldError():
            # It is this prompt that is too long or refused: others may be answered, this one never will.
            return FaultError(error.message, may_retry=False)
        case (
            InvalidRequestError()
            | DrainingError()
            | UpstreamRefusedError()
            | UpstreamChangedError()
            | ForbiddenAddressError()
        ):
            # A wrong key or path, or another model behind the name: nothing that is asked would be answered rightly.
            return None
        case UpstreamError() | RetryLaterError():
            return FaultError(_words(error), may_retry=True, after_s=error.retry_after_s)
        case OSError():
            # Connections and timeouts are among these.
            return FaultError(_words(error), may_retry=True)
        case _:
            return None


def completed(generation: Generation) -> Generation:
    """Return a generation that ended by itself.

    Raises:
        FaultError: the backend failed or aborted it.
    """
    if generation.outcome is not Outcome.COMPLETED:
        raise FaultError(f"{generation.outcome}: {generation.error or 'no reason given'}", may_retry=True)
    return generation


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split()) or 'no reason given'}"
