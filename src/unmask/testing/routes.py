"""Routes whose predictions follow from one feature, so that a test knows where each request goes."""

import math
from typing import Any

from unmask.control.difficulty import TaskModel
from unmask.control.features import FEATURES
from unmask.control.forest import LEAF, Forest, Tree
from unmask.control.route import Route, RouteEnd, RouteFit, TaskRoute
from unmask.control.routing import Routes
from unmask.testing.builders import make_model

EASY, HARD = 0.9, 0.1
"""Probabilities that the small model is right on prompts of one digit or two, and of more."""
LARGE = make_model("tiny")
SMALL = make_model("nano", digest="fedcba9876543210", parameters=400_000)


def make_task_route(**changes: Any) -> TaskRoute:  # noqa: ANN401 - any field
    """Return a task type whose easy prompts are tried by the small model; without escalation none is."""
    tree = Tree(
        feature=(FEATURES.index("digits"), LEAF, LEAF),
        threshold=(2.5, 0.0, 0.0),
        below=(1, 0, 0),
        above=(2, 0, 0),
        value=(0.0, math.log(EASY / (1 - EASY)), math.log(HARD / (1 - HARD))),
    )
    model = TaskModel(forest=Forest(0.0, (tree,)), ranges=((0.0, 1_000.0),) * len(FEATURES), bins=())
    fields: dict[str, Any] = {"model": model, "threshold": 0.5, "threshold_alone": None}
    return TaskRoute(**(fields | changes))


def make_fit(**changes: Any) -> RouteFit:  # noqa: ANN401 - any field
    """Return a fit of the task type sort."""
    fields: dict[str, Any] = {
        "small": RouteEnd(name=SMALL.name, digest=SMALL.digest),
        "large": RouteEnd(name=LARGE.name, digest=LARGE.digest),
        "digest": "f17" * 5,
        "tasks": {"sort": make_task_route()},
    }
    return RouteFit(**(fields | changes))


def make_route(**changes: Any) -> Route:  # noqa: ANN401 - any field
    """Return a route called auto over nano and tiny."""
    fields: dict[str, Any] = {
        "name": "auto",
        "small_name": SMALL.name,
        "small": SMALL,
        "large": LARGE,
        "fit": make_fit(),
    }
    return Route(**(fields | changes))


def make_routes(**changes: Any) -> Routes:  # noqa: ANN401 - any field of its route
    """Return routes of that one, all of whose models run."""
    return Routes((make_route(**changes),))
