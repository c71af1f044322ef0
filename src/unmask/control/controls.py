"""Draws control runs: requests picked before any signal that run to their budget and note where they would exit."""

from dataclasses import replace

from unmask.control.budget import Assignment
from unmask.policy.policy import ControlPolicy
from unmask.types import ExitAction, ExitPlan


def control_fraction(controls: ControlPolicy, seen: int) -> float:
    """Return the share of requests to draw, once a task type has ``seen`` so many controls under its policy."""
    return controls.young_fraction if seen < controls.young_until else controls.fraction


def draw_control(assignment: Assignment, seen: int, draw: float) -> Assignment:
    """Make a request a control, or not, and note with which probability.

    Only requests that an exit rule is right for are drawn; what runs to its budget anyway is no control of anything.

    Args:
        assignment: what the request was given.
        seen: controls of its task type so far under its policy.
        draw: uniform, from 0 up to but without 1.
    """
    if assignment.rule is None or assignment.controls is None:
        return assignment
    probability = control_fraction(assignment.controls, seen)
    if draw >= probability:
        return replace(assignment, probability=probability)
    return replace(
        assignment,
        probability=probability,
        is_control=True,
        exit=ExitPlan(rule=assignment.rule, action=ExitAction.OBSERVE),
    )
