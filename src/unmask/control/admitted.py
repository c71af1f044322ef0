"""A request that was given its budget."""

from dataclasses import dataclass

from unmask.backend import ModelInfo, Request
from unmask.control.budget import Assignment
from unmask.control.check import AnswerCheck


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """A request as the backend is to have it, and what it was given.

    Attributes:
        model: which model answers.
        check: judges its answers, if it has an exit rule and anybody can.
    """

    request: Request
    model: ModelInfo
    assignment: Assignment
    check: AnswerCheck | None = None
