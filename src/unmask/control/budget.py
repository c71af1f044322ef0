"""Gives a request its budget by the policy in force: a pure function of what is known before the first step."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import assert_never

from unmask.backend import Lever, ModelInfo, Request
from unmask.control.asked import MAX_TOTAL_STEPS, SERVICE_CLASS, Asked
from unmask.control.difficulty import steps_for
from unmask.control.precision import precision_of
from unmask.control.quality import FULL, QualityLevel
from unmask.control.sources import FIXED_POLICY, ActivePolicy, Estimate, short_digest
from unmask.errors import InvalidRequestError
from unmask.policy.policy import (
    DEFAULT_TASK,
    AtCap,
    BudgetMode,
    ClassPolicy,
    ControlPolicy,
    Policy,
    Preference,
    TaskPolicy,
)
from unmask.service import ClassTerms, SmallerBudget
from unmask.strategy import StrategyChoice
from unmask.types import Bucket, ExitPlan, ExitRule, Mode, Precision, StepBudget


class BudgetSource(StrEnum):
    """What a budget was taken from.

    ``client``: a number of steps in the request. ``effort``: a word for it. ``estimate``: its estimated difficulty.
    ``task``: the default of its task type. ``model``: the model's default, as no policy is approved.
    """

    CLIENT = "client"
    EFFORT = "effort"
    ESTIMATE = "estimate"
    TASK = "task"
    MODEL = "model"


_OURS = frozenset({BudgetSource.ESTIMATE, BudgetSource.TASK})
"""Budgets that may be made smaller: what a client names is what it gets, or nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What a request was given, and by what. A policy that is promoted meanwhile does not change it.

    Attributes:
        task: task type.
        service_class: its policy; ``None`` where no policy is approved.
        bucket: smallest tier that holds the budget; without a policy the one asked for, if any.
        budget: ``None`` leaves it to the model.
        rule: exit rule that is right for the request, whether or not it may stop it.
        exit: what the engine is told of that rule.
        estimate: how hard it looks.
        policy: digest of the policy; ``None`` where none is approved.
        source: what the budget was taken from.
        controls: how the policy draws controls.
        smaller: budgets that the request may be given instead where this one would be too late, largest first.
        probability: with which a control was drawn, 0 where none could be.
        is_control: whether it was.
        precision: what it is run in; ``None`` where the server behind this one does not say.
        level: number of the quality level that load left it.
    """

    task: str
    service_class: ClassPolicy | None = None
    bucket: Bucket | None = None
    budget: StepBudget | None = None
    strategy: StrategyChoice = StrategyChoice()
    rule: ExitRule | None = None
    exit: ExitPlan | None = None
    estimate: Estimate | None = None
    policy: str | None = None
    source: BudgetSource = BudgetSource.MODEL
    controls: ControlPolicy | None = None
    smaller: tuple[SmallerBudget, ...] = ()
    probability: float = 0.0
    is_control: bool = False
    precision: Precision | None = None
    level: int = FULL.number

    @property
    def policy_name(self) -> str:
        """Short digest of the policy, or ``fixed``."""
        return FIXED_POLICY if self.policy is None else short_digest(self.policy)

    @property
    def terms(self) -> ClassTerms:
        """What its place in the queue goes by."""
        return ClassTerms() if self.service_class is None else self.service_class.terms

    @property
    def fails_at_cap(self) -> bool:
        """Whether an answer that has not converged is an error."""
        return self.service_class is not None and self.service_class.at_cap is AtCap.FAIL


def assign(
    active: ActivePolicy | None,
    request: Request,
    asked: Asked,
    model: ModelInfo,
    *,
    task: str,
    estimate: Estimate | None,
    level: QualityLevel = FULL,
) -> Assignment:
    """Give a request its budget.

    Steps or an effort that the client names are the budget; no estimate changes them. Else an adaptive task type goes
    by the estimate (without one, or with one that is unsure, it gives the ceiling), and everything else by the default
    of its task type. Whatever was assigned lies between floor and ceiling of the task type and under the caps of
    class, model and canvas, of which the caps win. Load may take the next smaller bucket of it, down to the floor.

    Args:
        active: the policy in force for the model.
        request: in the client's words, with the budget as it is without a policy.
        asked: what of that the client has said.
        model: which model answers.
        task: its task type.
        estimate: how hard it looks, if anybody knows.
        level: what load leaves of it.

    Raises:
        InvalidRequestError: the service class does not exist or does not allow so many steps.
    """
    if active is None:
        return replace(_fixed(request, asked, model, task), level=level.number)
    policy = active.policy
    service_class = policy.service_class(asked.service_class)
    if service_class is None:
        names = ", ".join(entry.name for entry in policy.classes)
        raise InvalidRequestError(
            SERVICE_CLASS, asked.service_class, names, f"Leave it out for {policy.default_class}."
        )
    entry = policy.task(task)
    precision = precision_of(entry, service_class.name, asked.criticality, model)
    if Lever.BUDGET not in model.levers:
        # Class, verification and further attempts are ours; steps, and all that hangs on them, are nobody's.
        return Assignment(
            task=task,
            service_class=service_class,
            strategy=request.strategy,
            estimate=estimate,
            policy=active.digest,
            precision=precision,
            level=level.number,
        )
    steps, source = _steps(policy, entry, service_class, request, asked, model, estimate)
    # A causal answer takes what it has tokens.
    is_reducible = source in _OURS and not request.mode.is_causal
    if level.smaller_bucket and is_reducible:
        steps = next((smaller.max_steps for smaller in _buckets_below(policy, entry, steps)), steps)
    budget = StepBudget(max_steps=steps, max_total_steps=_total(service_class, request, model, steps))
    has_strategy, can_exit = Lever.STRATEGY in model.levers, Lever.EXIT in model.levers
    tuned_for = (entry.strategy if has_strategy else None) or StrategyChoice()
    strategy = request.strategy if asked.has_strategy else tuned_for
    rule = _rule(entry, request, asked) if strategy == tuned_for and can_exit else None
    return Assignment(
        task=task,
        service_class=service_class,
        bucket=_bucket_of(policy, steps),
        budget=budget,
        strategy=strategy,
        rule=rule,
        exit=ExitPlan(rule=rule) if rule is not None and entry.exit is not None and entry.exit.enabled else None,
        estimate=estimate,
        policy=active.digest,
        source=source,
        controls=policy.control,
        precision=precision,
        smaller=_buckets_below(policy, entry, steps) if service_class.smaller_bucket and is_reducible else (),
        level=level.number,
    )


def _fixed(request: Request, asked: Asked, model: ModelInfo, task: str) -> Assignment:
    if asked.service_class is not None:
        raise InvalidRequestError(
            SERVICE_CLASS, asked.service_class, "null", f"No policy is approved for {model.name}: leave it out."
        )
    by_client = BudgetSource.EFFORT if asked.bucket else BudgetSource.CLIENT if asked.max_steps else BudgetSource.MODEL
    return Assignment(
        task=task,
        bucket=asked.bucket,
        budget=request.budget,
        strategy=request.strategy,
        source=by_client,
        precision=model.precision,
    )


def _steps(
    policy: Policy,
    entry: TaskPolicy,
    service_class: ClassPolicy,
    request: Request,
    asked: Asked,
    model: ModelInfo,
    estimate: Estimate | None,
) -> tuple[int, BudgetSource]:
    """Return the steps of a canvas, and what they were taken from."""
    cap = min(service_class.max_steps, model.max_steps)
    if asked.max_steps is not None:
        _check_cap(asked.max_steps_field, asked.max_steps, cap, service_class)
        steps, source = asked.max_steps, BudgetSource.CLIENT
    elif asked.bucket is not None:
        # A word is no number that could be refused: the most there is means the most that the class has.
        steps, source = min(_steps_of(policy, asked.bucket, request, model), cap), BudgetSource.EFFORT
    else:
        is_known = entry.mode is BudgetMode.ADAPTIVE and estimate is not None
        source = BudgetSource.ESTIMATE if is_known else BudgetSource.TASK
        wanted = _wanted(policy, entry, service_class, estimate)
        positions = request.canvas_length or model.default_canvas_length
        steps = min(max(wanted, entry.floor), entry.ceiling, cap, positions)
    return steps, source


def _wanted(policy: Policy, entry: TaskPolicy, service_class: ClassPolicy, estimate: Estimate | None) -> int:
    """Return the steps that a task type's policy has for a request, floor, ceiling and caps aside."""
    if entry.mode is BudgetMode.FIXED:
        return entry.default
    steps = steps_for(estimate.score if estimate is not None and estimate.is_sure else None, entry, policy.buckets)
    match service_class.prefers:
        case Preference.DEADLINE:
            return steps
        case Preference.QUALITY:
            return max(steps, entry.default)
        case _:
            assert_never(service_class.prefers)


def _buckets_below(policy: Policy, entry: TaskPolicy, steps: int) -> tuple[SmallerBudget, ...]:
    """Return the buckets below a budget, largest first, down to the task type's floor."""
    fitting = (bucket for bucket in reversed(policy.buckets) if entry.floor <= bucket.max_steps < steps)
    return tuple(SmallerBudget(bucket=bucket.bucket, max_steps=bucket.max_steps) for bucket in fitting)


def _total(service_class: ClassPolicy, request: Request, model: ModelInfo, steps: int) -> int | None:
    given = request.budget.max_total_steps if request.budget else None
    cap = service_class.max_total_steps
    if cap is None:
        return given
    if given is not None:
        _check_cap(MAX_TOTAL_STEPS, given, cap, service_class)
        return given
    tokens = request.max_tokens or model.default_max_tokens
    if request.mode.is_causal:
        return min(cap, tokens)
    canvas = request.canvas_length or model.default_canvas_length
    return min(cap, steps * model.canvases_of(tokens, canvas))


def _check_cap(field: str, value: int, cap: int, service_class: ClassPolicy) -> None:
    if value > cap:
        raise InvalidRequestError(
            field, value, f"1 to {cap}", f"The service class {service_class.name} allows no more: lower it."
        )


def _rule(entry: TaskPolicy, request: Request, asked: Asked) -> ExitRule | None:
    # What the type of a request is not known for was never measured, so nothing is known of exits there.
    may_exit = asked.early_exit and entry.task != DEFAULT_TASK and request.mode is Mode.DIFFUSION
    return entry.exit.rule if entry.exit is not None and may_exit else None


def _steps_of(policy: Policy, bucket: Bucket, request: Request, model: ModelInfo) -> int:
    found = next((entry.max_steps for entry in policy.buckets if entry.bucket is bucket), None)
    if found is not None:
        return found
    # A policy need not have all tiers; the others stay shares of the model's default steps.
    return request.budget.max_steps if request.budget else model.default_steps_of(request.canvas_length)


def _bucket_of(policy: Policy, steps: int) -> Bucket:
    holding = (entry.bucket for entry in policy.buckets if entry.max_steps >= steps)
    return next(holding, policy.buckets[-1].bucket)
