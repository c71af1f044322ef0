"""Exit codes: what a script learns from a command."""

from enum import IntEnum

from unmask.errors import ConfigError, InvalidRequestError, UnmaskError, WeightsError
from unmask.policy.errors import PolicyActError


class Exit(IntEnum):
    """How a command ended."""

    OK = 0
    MISSED = 1
    USAGE = 2
    CANNOT_RUN = 3
    WEIGHTS = 4
    INTERRUPTED = 130


EXPLAINED = """\
exit codes:
  0    ok
  1    a check failed, a target was missed, or requests were cut off
  2    wrong usage or an invalid request
  3    could not run or measure
  4    weights are missing or damaged
  130  interrupted"""


class UsageError(UnmaskError):
    """The arguments of a command do not fit together."""


def exit_of(error: UnmaskError) -> Exit:
    """Return the exit code of an error that ended a command."""
    match error:
        case UsageError() | InvalidRequestError() | ConfigError() | PolicyActError():
            return Exit.USAGE
        case WeightsError():
            return Exit.WEIGHTS
        case _:
            return Exit.CANNOT_RUN
