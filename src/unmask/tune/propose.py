"""Makes a budget policy out of measured curves; nobody uses it before somebody else has approved it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from rich.table import Table

from unmask.backend import ModelInfo
from unmask.errors import UnmaskError
from unmask.policy.policy import (
    DEFAULT_TASK,
    BucketSteps,
    BudgetMode,
    ClassPolicy,
    ExitPolicy,
    Policy,
    TaskPolicy,
)
from unmask.stats import NotEnoughData
from unmask.strategy import StrategyChoice
from unmask.tasks.item import Split
from unmask.tune.advise import Advice, NoAdvice
from unmask.tune.buckets import choose_buckets, round_up
from unmask.tune.curve import Curve, CurveSet
from unmask.tune.errors import ForeignCurvesError
from unmask.tune.isotonic import isotonic
from unmask.tune.landmarks import LandmarkResult, MeasuredLandmarks, measure_landmarks
from unmask.tune.shown import spread_text
from unmask.tune.start import ClassStart, Start


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibratedTask:
    """A shift, and what it is safe for: a strategy, the limits of a task type's budgets, the loss that was allowed."""

    strategy: StrategyChoice
    shift: float
    floor: int
    ceiling: int
    alpha: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """A difficulty estimator that was calibrated, by its digest, with the task types it is safe for.

    A shift says nothing of other budgets than those that could be given while it was found.
    """

    digest: str
    model_digest: str
    buckets: tuple[BucketSteps, ...]
    tasks: Mapping[str, CalibratedTask]

    def misfit(self, entry: TaskPolicy, buckets: Sequence[BucketSteps]) -> str | None:
        """Say why the shift of a task type does not hold for a policy; nothing where it does."""
        found = self.tasks.get(entry.task)
        if found is None:
            return "no difficulty estimator is calibrated for it"
        if found.strategy != (entry.strategy or StrategyChoice()):
            return f"the difficulty estimator is for {found.strategy.name}"
        if found.alpha > entry.alpha:
            return f"the difficulty estimator may lose {found.alpha:g}"
        was, now = (
            {min(max(bucket.max_steps, low), high) for bucket in some} | {low, high}
            for some, low, high in (
                (self.buckets, found.floor, found.ceiling),
                (buckets, entry.floor, entry.ceiling),
            )
        )
        return None if was == now else "the difficulty estimator is calibrated for other budgets"


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedStrategy:
    """The strategy that a task type's exit was tuned with, and the digest of the finality model that it reads."""

    strategy: StrategyChoice
    finality: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """What other measurements add to a proposal; without them no task type is adaptive, and none exits early.

    Attributes:
        strategies: of task types that do not keep the strategy of their curve.
    """

    difficulty: Calibrated | None = None
    exits: Mapping[str, ExitPolicy] = field(default_factory=lambda: MappingProxyType({}))
    strategies: Mapping[str, TunedStrategy] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a number of a proposal comes from."""

    place: str
    value: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A policy and the reasons for its numbers."""

    policy: Policy
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Range:
    """A task type's budgets before they are rounded up to buckets, and why they are so."""

    floor: int
    default: int
    ceiling: int
    whys: tuple[str, str, str]
    settled: bool


def propose(
    curves: CurveSet,
    model: ModelInfo,
    advice: Sequence[Advice],
    extras: Extras | None = None,
    start: Start | None = None,
) -> Proposal:
    """Return a policy for the model served, each number with where it comes from.

    Floor, default and ceiling are a curve's floor, knee and saturation, rounded up to the next bucket. A task type
    with too few items, or one that is mostly wrong at every budget, keeps the largest budget: no curve speaks for less.
    It is adaptive where that is advised and an estimator was calibrated for it.

    Raises:
        UnmaskError: there are exits for task types without a curve.
        SplitError: the curves are not of the tuning split, which alone budgets are chosen on.
        ForeignCurvesError: curves or estimator are of other weights, or curves of another canvas length than
            requests get.
    """
    extras, start = extras or Extras(), start or Start()
    _check(curves, model, extras)
    grid, seed = curves.settings.grid, curves.settings.seed
    ranges = {curve.task: _range(curve, measure_landmarks(curve, seed), start) for curve in curves.curves}
    wanted = [step for entry in ranges.values() for step in (entry.floor, entry.default, entry.ceiling)]
    buckets = choose_buckets(grid, [*wanted, grid[-1]])
    modes = {entry.task: entry for entry in advice}
    tasks = [_task(curves, task, entry, buckets, modes.get(task), extras, start) for task, entry in ranges.items()]
    policies = [policy for policy, _ in tasks]
    adaptive = any(policy.mode is BudgetMode.ADAPTIVE for policy in policies)
    policy = Policy(
        model=model.name,
        model_digest=model.digest,
        difficulty=extras.difficulty.digest if adaptive and extras.difficulty is not None else None,
        buckets=buckets,
        tasks=(*policies, _default_task(curves, start)),
        classes=tuple(_class(entry, grid[-1]) for entry in start.classes),
        default_class=start.classes[0].name,
        control=start.control,
    )
    sources = [source for _, found in tasks for source in found]
    return Proposal(policy=policy, sources=(*sources, *_common_sources(policy)))


def _check(curves: CurveSet, model: ModelInfo, extras: Extras) -> None:
    curves.check_split(Split.TUNE)
    curves.check_model(model.name, model.digest)
    if curves.settings.canvas_length != model.default_canvas_length:
        raise ForeignCurvesError(
            f"the curves are of canvases of {curves.settings.canvas_length}, and requests to {model.name} get "
            f"{model.default_canvas_length} unless they ask otherwise: measure without --canvas-length"
        )
    if extras.difficulty is not None and extras.difficulty.model_digest != model.digest:
        raise ForeignCurvesError(
            f"the difficulty estimator is of weights {extras.difficulty.model_digest}, and the model served is "
            f"{model.name} {model.digest}: tune it anew"
        )
    strange = sorted(set(extras.exits) - set(curves.settings.tasks))
    if strange:
        raise UnmaskError(
            f"there are exits for {', '.join(strange)}, allowed: {', '.join(curves.settings.tasks)}, which there are "
            "curves of; measure those too"
        )


def _range(curve: Curve, landmarks: LandmarkResult, start: Start) -> _Range:
    most = curve.grid[-1]
    best = float(isotonic(curve.quality)[-1])
    if isinstance(landmarks, NotEnoughData):
        return _whole(most, f"largest budget: {landmarks.reason}")
    if best < start.learnt:
        return _whole(most, f"largest budget: {best:.0%} right at best, so no curve speaks for less")
    return _settled(landmarks)


def _settled(found: MeasuredLandmarks) -> _Range:
    at = found.at
    floor = "flat: gains less than 3 points" if at.flat else "next above collapse"
    return _Range(
        floor=at.floor,
        default=at.knee,
        ceiling=at.saturation,
        whys=(
            f"{floor}, {spread_text(at.floor, found.floor)}",
            f"knee, {spread_text(at.knee, found.knee)}",
            f"saturation, {spread_text(at.saturation, found.saturation)}",
        ),
        settled=True,
    )


def _whole(most: int, why: str) -> _Range:
    return _Range(floor=most, default=most, ceiling=most, whys=(why, why, why), settled=False)


def _task(
    curves: CurveSet,
    task: str,
    entry: _Range,
    buckets: Sequence[BucketSteps],
    advice: Advice | None,
    extras: Extras,
    start: Start,
) -> tuple[TaskPolicy, list[Source]]:
    steps = [bucket.max_steps for bucket in buckets]
    floor, default, ceiling = (round_up(step, steps) for step in (entry.floor, entry.default, entry.ceiling))
    leave = extras.exits.get(task)
    tuned = extras.strategies.get(task, TunedStrategy(strategy=curves.settings.strategy_of(task)))
    fixed = TaskPolicy(
        task=task,
        mode=BudgetMode.FIXED,
        floor=floor,
        default=default,
        ceiling=ceiling,
        strategy=tuned.strategy,
        finality=tuned.finality,
        exit=leave,
        alpha=start.alphas.get(task, start.alpha),
        shift=0.0,
    )
    shift, why = _shift(fixed, entry, buckets, advice, extras)
    policy = fixed if shift is None else replace(fixed, mode=BudgetMode.ADAPTIVE, shift=shift)
    sources = [
        Source(place=f"{task}.{name}", value=str(value), source=_rounded(said, step, value))
        for name, value, step, said in zip(
            ("floor", "default", "ceiling"),
            (floor, default, ceiling),
            (entry.floor, entry.default, entry.ceiling),
            entry.whys,
            strict=True,
        )
    ]
    sources.append(Source(place=f"{task}.mode", value=policy.mode, source=why))
    if shift is not None:
        sources.append(Source(place=f"{task}.shift", value=f"{shift:g}", source="calibration of the estimator"))
    if task in extras.strategies:
        sources.append(Source(place=f"{task}.strategy", value=tuned.strategy.name, source="tuned with the exit"))
    told = "off until a rule is tuned" if leave is None else "tuned rule, " + ("on" if leave.enabled else "observing")
    sources.append(Source(place=f"{task}.exit", value="none" if leave is None else "rule", source=told))
    return policy, sources


def _rounded(why: str, step: int, bucket: int) -> str:
    return why if step == bucket else f"{why}; rounded up to a bucket"


def _shift(
    fixed: TaskPolicy, entry: _Range, buckets: Sequence[BucketSteps], advice: Advice | None, extras: Extras
) -> tuple[float | None, str]:
    """Return the shift of an adaptive task type, none for a fixed one, and why it is so.

    Adaptive needs a curve, advice and an estimator that was calibrated for these budgets.
    """
    if not entry.settled:
        return None, "its curve decides nothing"
    if advice is None or isinstance(advice, NoAdvice):
        return None, "not enough data for advice"
    if advice.mode is BudgetMode.FIXED:
        return None, f"advice: {advice.reason}"
    if extras.difficulty is None:
        return None, "advice is adaptive, but no difficulty estimator is calibrated for it"
    misfit = extras.difficulty.misfit(fixed, buckets)
    if misfit is not None:
        return None, f"advice is adaptive, but {misfit}"
    return extras.difficulty.tasks[fixed.task].shift, f"advice: {advice.reason}"


def _default_task(curves: CurveSet, start: Start) -> TaskPolicy:
    most = curves.settings.grid[-1]
    return TaskPolicy(
        task=DEFAULT_TASK,
        mode=BudgetMode.FIXED,
        floor=most,
        default=most,
        ceiling=most,
        strategy=None,
        exit=None,
        alpha=start.alpha,
        shift=0.0,
    )


def _class(found: ClassStart, most: int) -> ClassPolicy:
    return ClassPolicy(
        name=found.name,
        prefers=found.prefers,
        max_steps=most,
        max_total_steps=None,
        at_cap=found.at_cap,
        re_expansions=found.re_expansions,
        re_expansion_factor=found.re_expansion_factor,
    )


def _common_sources(policy: Policy) -> list[Source]:
    largest = policy.buckets[-1].max_steps
    shown = ", ".join(f"{entry.bucket} {entry.max_steps}" for entry in policy.buckets)
    return [
        Source(place=DEFAULT_TASK, value=str(largest), source="largest budget: the task type is not known"),
        Source(place="buckets", value=shown, source="landmarks of all task types, the grid between them"),
        *(
            Source(place=f"class {entry.name}", value=f"at most {entry.max_steps}", source="starting value")
            for entry in policy.classes
        ),
        Source(
            place="control",
            value=f"{policy.control.young_fraction:g}, then {policy.control.fraction:g}",
            source=f"starting value, young until {policy.control.young_until} controls of a task type",
        ),
    ]


def proposal_table(proposal: Proposal) -> Table:
    """Return each number with where it comes from."""
    policy = proposal.policy
    table = Table(title=f"proposed for {policy.model} {policy.model_digest}")
    for heading in ("what", "value", "where from (middle 95 % of resamples)"):
        table.add_column(heading)
    for source in proposal.sources:
        table.add_row(source.place, source.value, source.source)
    return table
