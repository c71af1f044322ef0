"""What has to hold between the fields of a policy; one rule a function, each with its message."""

import math
from collections.abc import Callable, Iterable, Iterator

from unmask.errors import ConfigError, shown
from unmask.policy.exit_rule import RuleFault, rule_faults
from unmask.policy.policy import DEFAULT_TASK, BudgetMode, ClassPolicy, Policy, SearchPolicy, TaskPolicy
from unmask.service import SearchMethod
from unmask.strategy import StrategyChoice, StrategyName
from unmask.types import Bucket, ExitRule, ProgressSignal

LEAST_YOUNG_FRACTION = 0.05


def check_policy(policy: Policy) -> None:
    """Refuse a policy whose fields contradict each other.

    Raises:
        ConfigError: names the field by its path, its value, what is allowed and the fix.
    """
    rules: tuple[Callable[[Policy], None], ...] = (
        _names_differ,
        _buckets_rise,
        _defaults_are_there,
        _tasks_make_sense,
        _classes_make_sense,
        _default_task_is_plain,
        _adaptive_is_estimated,
        _controls_suffice,
    )
    for rule in rules:
        rule(policy)


def misfit(path: str, value: object, allowed: str, fix: str) -> ConfigError:
    """Return the error of one field."""
    return ConfigError(f"{path} is {shown(value)}, allowed: {allowed}. {fix}", param=path)


def _names_differ(policy: Policy) -> None:
    for path, names in _names(policy):
        twice = _twice(names)
        if twice is not None:
            raise misfit(path, str(twice), "each name once", "Remove one of the two.")


def _names(policy: Policy) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield where entries have names, and these."""
    yield "buckets", (entry.bucket for entry in policy.buckets)
    yield "tasks", (entry.task for entry in policy.tasks)
    yield "classes", (entry.name for entry in policy.classes)
    for entry in policy.classes:
        yield f"classes.{entry.name}.searches", (search.task for search in entry.searches)


def _twice(names: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _buckets_rise(policy: Policy) -> None:
    if not policy.buckets:
        raise misfit("buckets", {}, f"at least one of {', '.join(Bucket)}", "Name the buckets and their steps.")
    order = list(Bucket)
    for small, large in zip(policy.buckets, policy.buckets[1:], strict=False):
        if order.index(small.bucket) > order.index(large.bucket) or small.max_steps >= large.max_steps:
            raise misfit(
                f"buckets.{large.bucket}",
                large.max_steps,
                f"more than buckets.{small.bucket}, which is {small.max_steps}",
                f"Raise it, lower the one before, or leave {large.bucket} out.",
            )


def _defaults_are_there(policy: Policy) -> None:
    tasks, classes = [entry.task for entry in policy.tasks], [entry.name for entry in policy.classes]
    if DEFAULT_TASK not in tasks:
        raise misfit(
            "tasks", tasks, f"{DEFAULT_TASK} among them", f"Add tasks.{DEFAULT_TASK} for requests of unknown type."
        )
    if policy.default_class not in classes:
        raise misfit(
            "default_class",
            policy.default_class,
            ", ".join(classes) or "the name of a class",
            "Name a service class of `classes`, or add this one there.",
        )


def _tasks_make_sense(policy: Policy) -> None:
    for task in policy.tasks:
        path = f"tasks.{task.task}"
        _caps_are_ordered(path, task, policy.buckets[-1].max_steps)
        if task.strategy is not None:
            _threshold_fits(path, task.strategy)
        _finality_is_read(path, task)
        _classes_are_known(path, task, [entry.name for entry in policy.classes])
        if task.exit is not None:
            _exit_makes_sense(f"{path}.exit", task.exit.rule, task.ceiling)


def _finality_is_read(path: str, task: TaskPolicy) -> None:
    is_read = task.strategy is not None and task.strategy.name.needs_model
    if is_read and task.finality is None:
        raise misfit(f"{path}.finality", None, "the digest of a learned part", f"{path}.strategy reads it.")
    if not is_read and task.finality is not None:
        raise misfit(
            f"{path}.finality",
            task.finality,
            f"none unless {path}.strategy is {StrategyName.FINALITY}",
            "Leave it out, or name the strategy that reads it.",
        )


def _classes_are_known(path: str, task: TaskPolicy, classes: list[str]) -> None:
    named = [entry.service_class for entry in task.precision]
    if _twice(named) is not None:
        raise misfit(f"{path}.precision", named, "each class once", "Remove one of the two.")
    for name in named:
        if name not in classes:
            raise misfit(
                f"{path}.precision", name, ", ".join(classes), "Name a service class of `classes`, or add it there."
            )


def _caps_are_ordered(path: str, task: TaskPolicy, largest: int) -> None:
    order = "Steps rise from floor over default to ceiling."
    if task.default < task.floor:
        raise misfit(f"{path}.default", task.default, f"at least {path}.floor, which is {task.floor}", order)
    if task.ceiling < task.default:
        raise misfit(f"{path}.ceiling", task.ceiling, f"at least {path}.default, which is {task.default}", order)
    if task.ceiling > largest:
        raise misfit(
            f"{path}.ceiling",
            task.ceiling,
            f"at most the largest bucket, which is {largest}",
            "Lower it, or raise the largest bucket.",
        )


def _threshold_fits(path: str, strategy: StrategyChoice) -> None:
    if strategy.threshold is not None and strategy.threshold > 1 and strategy.name.has_bounded_threshold:
        raise misfit(
            f"{path}.strategy.threshold",
            strategy.threshold,
            "a number from 0 to 1",
            f"With {strategy.name} it is a probability.",
        )


def _exit_makes_sense(path: str, rule: ExitRule, ceiling: int) -> None:
    for fault in rule_faults(rule):
        raise misfit(f"{path}{_place_of(fault)}", fault.value, fault.allowed, fault.fix)
    for name, steps in (("min_steps", rule.min_steps), ("patience", rule.patience)):
        if steps > ceiling:
            raise misfit(
                f"{path}.{name}", steps, f"at most the ceiling, which is {ceiling}", "Lower it, or it never exits."
            )


def _place_of(fault: RuleFault) -> str:
    """Return where in the file a fault is, below its rule."""
    if fault.field == "kinds":
        return ""
    return f".conditions.{fault.field}" if fault.field in set(ProgressSignal) else f".{fault.field}"


def _classes_make_sense(policy: Policy) -> None:
    for entry in policy.classes:
        path = f"classes.{entry.name}"
        for task in policy.tasks:
            if entry.max_steps < task.floor:
                raise misfit(
                    f"{path}.max_steps",
                    entry.max_steps,
                    f"at least tasks.{task.task}.floor, which is {task.floor}",
                    "Raise the cap, or lower the floor: below it the task type's quality collapses.",
                )
        if entry.max_total_steps is not None and entry.max_total_steps < entry.max_steps:
            raise misfit(
                f"{path}.max_total_steps",
                entry.max_total_steps,
                f"at least {path}.max_steps, which is {entry.max_steps}",
                "Raise it, or leave it out.",
            )
        if entry.re_expansions and entry.re_expansion_factor <= 1:
            raise misfit(
                f"{path}.re_expansion_factor",
                entry.re_expansion_factor,
                "a number above 1",
                "Another attempt needs a larger budget; or set re_expansions to 0.",
            )
        _shares_make_sense(path, entry)
        for search in entry.searches:
            _search_makes_sense(f"{path}.searches.{search.task}", search, policy)
    promised = math.fsum(entry.min_share or 0.0 for entry in policy.classes)
    if promised > 1:
        raise misfit("classes", f"{promised:g} of min_share", "at most 1 together", "There is one machine to share.")


def _shares_make_sense(path: str, entry: ClassPolicy) -> None:
    if entry.min_share is not None and entry.max_share is not None and entry.min_share > entry.max_share:
        raise misfit(
            f"{path}.min_share",
            entry.min_share,
            f"at most {path}.max_share, which is {entry.max_share:g}",
            "Lower it, or raise the most that the class gets.",
        )
    if entry.smaller_bucket and entry.deadline_s is None:
        raise misfit(
            f"{path}.smaller_bucket",
            True,  # noqa: FBT003 - the value that the message shows
            f"left out, or with {path}.deadline_s",
            "Without a deadline nothing is too late.",
        )


def _search_makes_sense(path: str, search: SearchPolicy, policy: Policy) -> None:
    tasks = [task.task for task in policy.tasks]
    if search.task not in tasks:
        raise misfit(path, search.task, ", ".join(tasks), "Name a task type of `tasks`, or add this one there.")
    if search.method is SearchMethod.NONE:
        others = ", ".join(method for method in SearchMethod if method is not SearchMethod.NONE)
        raise misfit(f"{path}.method", str(search.method), others, "Leave the entry out for none.")
    buckets = [entry.bucket for entry in policy.buckets]
    if search.from_bucket is not None and search.from_bucket not in buckets:
        raise misfit(
            f"{path}.from_bucket",
            str(search.from_bucket),
            ", ".join(buckets),
            "Name a bucket of the policy, or leave it out for all.",
        )


def _default_task_is_plain(policy: Policy) -> None:
    task = policy.task(DEFAULT_TASK)
    path = f"tasks.{DEFAULT_TASK}"
    if task.mode is not BudgetMode.FIXED:
        raise misfit(
            f"{path}.mode", str(task.mode), BudgetMode.FIXED, "Requests of unknown type have one budget for all."
        )
    if task.exit is not None and task.exit.enabled:
        raise misfit(
            f"{path}.exit.enabled",
            True,  # noqa: FBT003 - the value that the message shows
            "false",
            "Whether an exit of an unknown task type is right cannot be measured, so it may only observe.",
        )


def _adaptive_is_estimated(policy: Policy) -> None:
    for task in policy.tasks:
        if task.mode is BudgetMode.ADAPTIVE and policy.difficulty is None:
            raise misfit(
                f"tasks.{task.task}.mode",
                str(task.mode),
                f"{BudgetMode.FIXED}, as the policy names no difficulty estimator",
                "Name its digest in `difficulty`, or make the task type fixed.",
            )


def _controls_suffice(policy: Policy) -> None:
    enabled = [task.task for task in policy.tasks if task.exit is not None and task.exit.enabled]
    if not enabled:
        return
    why = f"The exit of {', '.join(enabled)} is enabled, and only control runs tell how often it is wrong."
    if policy.control.young_fraction < LEAST_YOUNG_FRACTION:
        raise misfit(
            "control.young_fraction",
            policy.control.young_fraction,
            f"a number from {LEAST_YOUNG_FRACTION} to 1",
            why,
        )
    if policy.control.fraction <= 0:
        raise misfit("control.fraction", policy.control.fraction, "above 0, at most 1", why)
