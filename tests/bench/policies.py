"""A policy made by hand for whatever model is measured, its estimator among its parts."""

from pathlib import Path

from unmask.control.difficulty import TaskModel
from unmask.control.estimator_file import write_estimator
from unmask.control.features import FEATURES
from unmask.control.forest import LEAF, Forest, Tree
from unmask.policy.policy import BudgetMode, Policy
from unmask.policy.store import PolicyStore
from unmask.strategy import StrategyChoice, StrategyName
from unmask.tasks.registry import all_tasks
from unmask.testing.budget_policies import make_exit, make_policy, make_task_policy
from unmask.types import ExitCondition, ExitRule, ProgressSignal

PROMPT_TOKENS = FEATURES.index("prompt_tokens")
LONG = 120.0
RULE = ExitRule(
    conditions=(
        ExitCondition(signal=ProgressSignal.CONFIDENCE_MIN, bound=0.9),
        ExitCondition(signal=ProgressSignal.FORMAT, bound=1.0),
    )
)


def by_length() -> TaskModel:
    """Return a model to which prompts of more than 120 tokens need 16 steps, others 4."""
    tree = Tree(
        feature=(PROMPT_TOKENS, LEAF, LEAF),
        threshold=(LONG, 0.0, 0.0),
        below=(1, 0, 0),
        above=(2, 0, 0),
        value=(0.0, 2.0, 4.0),
    )
    wide = tuple((0.0, 1e6) for _ in FEATURES)
    return TaskModel(forest=Forest(0.0, (tree,)), ranges=wide, bins=(3.0,))


def store_policy(store: PolicyStore, folder: Path, model_digest: str, *, adaptive: bool = True) -> Policy:
    """Put an estimator into a store, and return a policy that names it; exits are enabled for every task type."""
    file = folder / "estimator.json"
    write_estimator(file, model="tiny", model_digest=model_digest, tasks={task: by_length() for task in all_tasks()})
    digest = store.add_part(file.read_bytes())
    tasks = tuple(
        make_task_policy(
            task,
            mode=BudgetMode.ADAPTIVE if adaptive else BudgetMode.FIXED,
            ceiling=32,
            strategy=StrategyChoice(name=StrategyName.CONFIDENCE_THRESHOLD, threshold=0.9),
            exit=make_exit(rule=RULE, enabled=True),
        )
        for task in all_tasks()
    )
    return make_policy(
        model_digest=model_digest, difficulty=digest if adaptive else None, tasks=(make_task_policy(), *tasks)
    )
