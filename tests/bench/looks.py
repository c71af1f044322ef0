"""Looks made by hand: items of two task types, and arms whose answers are written down."""

from collections.abc import Mapping, Sequence

import numpy as np

from unmask.bench.policy_figures import BOOSTED
from unmask.bench.policy_look import ArmRuns, Look
from unmask.bench.policy_under_test import Given
from unmask.bench.trial import Setup
from unmask.control.budget import Assignment
from unmask.tasks.item import Difficulty, Item
from unmask.testing.budget_policies import make_class_policy, make_exit
from unmask.types import ExitPlan, Message, Role, StepBudget

PLAN = ExitPlan(rule=make_exit().rule)
EXITING = Setup(max_steps=8, exit=PLAN)
RUNNING_ON = Setup(max_steps=16)


def make_item(number: int, task: str) -> Item:
    """Return an item that says nothing but its number."""
    return Item(
        task=task,
        messages=(Message(role=Role.USER, content=f"{task} {number}"),),
        answer="",
        difficulty=Difficulty(axes=(("length", number),)),
        canonical=f"{task}/{number}",
    )


def make_given(hardness: float = 3.0, *, control: float = 0.0, seconds: float = 0.0, steps: int = 8) -> Given:
    """Return a budget of some steps with an exit."""
    return Given(
        assignment=Assignment(
            task="sort",
            service_class=make_class_policy(max_steps=64),
            budget=StepBudget(max_steps=steps),
            exit=PLAN,
        ),
        hardness=hardness,
        seconds=seconds,
        control=control,
    )


def make_arm(name: str, steps: Sequence[float], correct: Sequence[float], setup: Setup = EXITING) -> ArmRuns:
    """Return an arm; each answer has as many tokens as steps and takes a tenth of a second a step."""
    taken = np.array(steps, dtype=np.float64)
    return ArmRuns(
        name=name,
        setups=(setup,) * len(taken),
        steps=taken,
        tokens=taken,
        seconds=taken / 10,
        correct=np.array(correct, dtype=np.float64),
    )


def make_look(arms: Mapping[str, tuple[float | Sequence[float], float | Sequence[float]]], count: int = 60) -> Look:
    """Return a look at ``count`` items, sort and latin in turn, of which the last third looks hardest.

    Args:
        arms: by name, steps and correctness, one number for all items or one each.
        count: of items.
    """
    names = ("sort", "latin")
    return Look(
        mixture="frozen",
        items=tuple(make_item(number, names[number % 2]) for number in range(count)),
        given=tuple(make_given(float(number)) for number in range(count)),
        hardest=np.arange(count) >= count - round(count / 3),
        arms={
            name: make_arm(
                name,
                np.broadcast_to(steps, count).tolist(),
                np.broadcast_to(correct, count).tolist(),
                RUNNING_ON if name == BOOSTED else EXITING,
            )
            for name, (steps, correct) in arms.items()
        },
    )
