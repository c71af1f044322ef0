"""Fits a route to items that both its models were asked, and judges it on others."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from unmask.backend import Backend, ModelInfo
from unmask.control.route import Route
from unmask.control.stored import CountTokens
from unmask.stats import Interval, IntervalResult, paired_difference, ratio_interval
from unmask.tasks.item import Split
from unmask.tasks.spec import load_spec
from unmask.tune.items import draw_items
from unmask.tune.routing import (
    FittedTask,
    RoutedArm,
    RoutedItem,
    RouteRule,
    fit_task,
    large_arm,
    probabilities,
    route_items,
)
from unmask.tune.routing_asking import RoutingAsking, decision_s


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingPlan:
    """What is asked.

    Attributes:
        tuning, calibrating: items of each task type.
        testing: items of all of them together, as the mixture has them.
    """

    tasks: tuple[str, ...]
    tuning: int
    calibrating: int
    testing: int
    seed: int
    in_flight: int
    max_loss: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A route against the large model alone, on the test split.

    Attributes:
        task: which task type; empty for the mixture of all.
        small, escalated: shares of requests that tried the small model, and that took both.
        saving: share of the large model's seconds that is saved, everything charged.
        quality: right answers of the route less those of the large model, item by item.
    """

    task: str
    can_escalate: bool
    n: int
    small: float
    escalated: float
    large_right: float
    saving: IntervalResult
    quality: IntervalResult


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingRun:
    """A fitted route, and what it is worth."""

    small: ModelInfo
    large: ModelInfo
    decision_s: float
    fitted: tuple[FittedTask, ...]
    judged: tuple[Judged, ...]

    @property
    def tries_small(self) -> bool:
        """Whether any request goes to the small model first."""
        return any(
            threshold is not None
            for one in self.fitted
            for threshold in (one.route.threshold, one.route.threshold_alone)
        )


async def run_routing(
    backend: Backend,
    route: Route,
    plan: RoutingPlan,
    count_tokens: CountTokens,
    *,
    now: Callable[[], float],
    say: Callable[[str], None],
) -> RoutingRun:
    """Ask, fit and judge.

    Args:
        backend: serves both models.
        route: names them; its limits are what is asked within.
        plan: what is asked.
        count_tokens: how long a prompt is.
        now: seconds, to time decisions with.
        say: told of each task type that is done.

    Raises:
        InvalidRequestError: a split holds too few items.
        RoutingAskingError: a model did not answer.
    """
    small = route.small
    assert small is not None, "a route is fitted to two models"
    asking = RoutingAsking(
        backend=backend,
        models=(small, route.large),
        in_flight=plan.in_flight,
        count_tokens=count_tokens,
        max_tokens=route.model.default_max_tokens,
    )
    drawn = {task: draw_items(task, count, plan.seed, Split.TEST) for task, count in _test_counts(plan)}
    # Without the walk through trees that are not there yet, which what is judged is charged.
    rule = RouteRule(max_loss=plan.max_loss, decision_s=decision_s(asking, drawn, {}, now), seed=plan.seed)
    fitted, tests = [], []
    for task in plan.tasks:
        tuning = await asking.items(draw_items(task, plan.tuning, plan.seed))
        calibrating = await asking.items(draw_items(task, plan.calibrating, plan.seed, Split.CALIBRATE))
        fitted.append(fit_task(task, tuning, calibrating, rule))
        tests.append(await asking.items(drawn[task]))
        say(f"{task}: {outcome(fitted[-1])}")
    full = replace(rule, decision_s=decision_s(asking, drawn, {one.task: one.route for one in fitted}, now))
    return RoutingRun(
        small=small,
        large=route.large,
        decision_s=full.decision_s,
        fitted=tuple(fitted),
        judged=tuple(judge(fitted, tests, full)),
    )


def _test_counts(plan: RoutingPlan) -> Iterable[tuple[str, int]]:
    """Yield how many test items each task type has, by its share of the frozen mixture."""
    mixture = load_spec().mixture
    weights = dict(zip(mixture.values, mixture.weights, strict=True))
    whole = sum(weights[task] for task in plan.tasks)
    for task in plan.tasks:
        yield task, max(1, round(plan.testing * weights[task] / whole))


def outcome(found: FittedTask) -> str:
    """Say what became of a task type."""
    taken = found.found.taken
    if taken is None:
        return f"all to the large model: {found.found.reason}"
    return f"{taken.small:.0%} to the small model first, loss at most {taken.upper:.2%}, saving {taken.saving:.0%}"


def judge(fitted: Sequence[FittedTask], tests: Sequence[Sequence[RoutedItem]], rule: RouteRule) -> Iterable[Judged]:
    """Yield what a route is worth, with escalation and without: on the mixture first, then on each task type."""
    for can_escalate in (True, False):
        arms = [
            route_items(
                items,
                probabilities(one.route.model, items),
                one.route.threshold if can_escalate else one.route.threshold_alone,
                rule,
                can_escalate=can_escalate,
            )
            for one, items in zip(fitted, tests, strict=True)
        ]
        larges = [large_arm(items) for items in tests]
        yield _judged("", _together(arms), _together(larges), rule, can_escalate=can_escalate)
        for one, arm, large in zip(fitted, arms, larges, strict=True):
            yield _judged(one.task, arm, large, rule, can_escalate=can_escalate)


def _judged(task: str, arm: RoutedArm, large: RoutedArm, rule: RouteRule, *, can_escalate: bool) -> Judged:
    ratio = ratio_interval(arm.seconds, large.seconds, rule.seed, paired=True)
    saving = (
        Interval(estimate=1 - ratio.estimate, low=1 - ratio.high, high=1 - ratio.low)
        if isinstance(ratio, Interval)
        else ratio
    )
    return Judged(
        task=task,
        can_escalate=can_escalate,
        n=len(arm.seconds),
        small=float(arm.is_small.mean()),
        escalated=float(arm.is_escalated.mean()),
        large_right=float(large.is_right.mean()),
        saving=saving,
        quality=paired_difference(arm.is_right, large.is_right, rule.seed, bounds=(-1, 1)),
    )


def _together(arms: Sequence[RoutedArm]) -> RoutedArm:
    def joined(values: Iterable[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
        return np.concatenate(list(values))

    return RoutedArm(
        is_right=joined(arm.is_right for arm in arms),
        seconds=joined(arm.seconds for arm in arms),
        is_small=np.concatenate([arm.is_small for arm in arms]),
        is_escalated=np.concatenate([arm.is_escalated for arm in arms]),
    )
