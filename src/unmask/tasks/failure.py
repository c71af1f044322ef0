"""The three ways in which an answer falls short."""

from enum import StrEnum


class FailureKind(StrEnum):
    """In which of three ways an answer falls short; each is met in a way of its own, see `unmask.tasks.criteria`.

    ``format``: it has not the form asked for. ``logic``: what it says does not follow, contradicts itself or is not
    what was asked. ``fact``: it states what the request, or the truth, does not hold.
    """

    FORMAT = "format"
    LOGIC = "logic"
    FACT = "fact"
