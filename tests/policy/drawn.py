"""Policies drawn at random, all of which make sense."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from unmask.policy.policy import (
    DEFAULT_TASK,
    AtCap,
    BucketSteps,
    BudgetMode,
    ClassPolicy,
    ControlPolicy,
    ExitPolicy,
    Policy,
    PrecisionPolicy,
    Preference,
    SearchPolicy,
    TaskPolicy,
)
from unmask.service import MOST_WIDTH, SearchMethod
from unmask.strategy import StrategyChoice, StrategyName
from unmask.types import Bucket, ExitCondition, ExitRule, LearnedExit, ProgressSignal, SignalKind

EXAMPLES = 25
"""A policy has some forty drawn values, so a few of them go a long way."""
DIGESTS = st.text("0123456789abcdef", min_size=16, max_size=64)
NAMES = st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,10}\Z")
SHARES = st.floats(0, 1, exclude_min=True, exclude_max=True)
NUMBERS = st.floats(-1e6, 1e6)


def bounds(signal: ProgressSignal) -> st.SearchStrategy[float]:
    """Draw a bound that a signal may have."""
    if signal is ProgressSignal.FORMAT:
        return st.just(1.0)
    return st.floats(0, 1)


@st.composite
def learned_exits(draw: st.DrawFn) -> LearnedExit:
    """Draw a learned score."""
    signals = draw(st.lists(st.sampled_from(ProgressSignal), min_size=1, unique=True))
    return LearnedExit(
        version=draw(DIGESTS),
        bias=draw(NUMBERS),
        weights=tuple((signal, draw(NUMBERS.filter(bool))) for signal in signals),
        threshold=draw(SHARES),
    )


@st.composite
def exit_policies(draw: st.DrawFn, *, ceiling: int, may_stop: bool) -> ExitPolicy:
    """Draw an exit of at least two kinds of signal."""
    first, second = draw(st.permutations(list(SignalKind)))[:2]
    signals = [
        draw(st.sampled_from([signal for signal in ProgressSignal if signal.kind is kind])) for kind in (first, second)
    ]
    more = draw(st.lists(st.sampled_from(ProgressSignal), max_size=3))
    rule = ExitRule(
        conditions=tuple(
            ExitCondition(signal=signal, bound=draw(bounds(signal))) for signal in dict.fromkeys((*signals, *more))
        ),
        learned=draw(st.none() | learned_exits()),
        patience=draw(st.integers(1, ceiling)),
        min_steps=draw(st.integers(1, ceiling)),
    )
    return ExitPolicy(rule=rule, enabled=may_stop and draw(st.booleans()), misjudgement_limit=draw(SHARES))


@st.composite
def task_policies(
    draw: st.DrawFn, name: str, *, largest: int, classes: tuple[ClassPolicy, ...], is_estimated: bool
) -> TaskPolicy:
    """Draw a task type whose floor is within every class's cap."""
    is_default = name == DEFAULT_TASK
    floor = draw(st.integers(1, min(largest, *(entry.max_steps for entry in classes))))
    default = draw(st.integers(floor, largest))
    ceiling = draw(st.integers(default, largest))
    strategy = draw(
        st.none() | st.builds(StrategyChoice, name=st.sampled_from(StrategyName), threshold=st.none() | st.floats(0, 1))
    )
    modes = [BudgetMode.FIXED] if is_default or not is_estimated else list(BudgetMode)
    return TaskPolicy(
        task=name,
        mode=draw(st.sampled_from(modes)),
        floor=floor,
        default=default,
        ceiling=ceiling,
        strategy=strategy,
        finality=draw(DIGESTS) if strategy is not None and strategy.name.needs_model else None,
        exit=draw(st.none() | exit_policies(ceiling=ceiling, may_stop=not is_default)),
        alpha=draw(SHARES),
        shift=draw(st.floats(-20, 20)),
        precision=tuple(
            draw(st.builds(PrecisionPolicy, service_class=st.just(entry.name)))
            for entry in classes
            if draw(st.booleans())
        ),
    )


@st.composite
def search_policies(draw: st.DrawFn, tasks: Sequence[str], buckets: Sequence[Bucket]) -> tuple[SearchPolicy, ...]:
    """Draw the searches of a service class, of some of the task types."""
    methods = [method for method in SearchMethod if method is not SearchMethod.NONE]
    return tuple(
        SearchPolicy(
            task=task,
            method=draw(st.sampled_from(methods)),
            width=draw(st.integers(2, MOST_WIDTH)),
            from_bucket=draw(st.none() | st.sampled_from(buckets)),
        )
        for task in draw(st.lists(st.sampled_from(tasks), max_size=2, unique=True))
    )


@st.composite
def class_policies(draw: st.DrawFn, name: str) -> ClassPolicy:
    """Draw a service class."""
    max_steps = draw(st.integers(1, 100))
    attempts = draw(st.integers(0, 16))
    return ClassPolicy(
        name=name,
        prefers=draw(st.sampled_from(Preference)),
        max_steps=max_steps,
        max_total_steps=draw(st.none() | st.integers(max_steps, 1000)),
        at_cap=draw(st.sampled_from(AtCap)),
        re_expansions=attempts,
        re_expansion_factor=draw(st.floats(1, 64, exclude_min=attempts > 0)),
        deadline_s=(deadline := draw(st.none() | st.floats(0.01, 86_400))),
        weight=draw(st.none() | st.floats(0.01, 1_000)),
        # At most three classes are drawn, and together they may be promised no more than all.
        min_share=draw(st.none() | st.floats(0, 0.3)),
        max_share=draw(st.none() | st.floats(0.3, 1)),
        smaller_bucket=draw(st.none() | st.just(value=False) if deadline is None else st.none() | st.booleans()),
        quality_floor=draw(st.none() | st.integers(0, 4)),
    )


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Draw a policy."""
    steps = sorted(draw(st.lists(st.integers(1, 200), min_size=1, max_size=5, unique=True)))
    sizes = sorted(draw(st.permutations(list(Bucket)))[: len(steps)], key=list(Bucket).index)
    drawn = tuple(draw(class_policies(name)) for name in draw(st.lists(NAMES, min_size=1, max_size=3, unique=True)))
    difficulty = draw(st.none() | DIGESTS)
    others = draw(st.lists(NAMES.filter(lambda name: name != DEFAULT_TASK), max_size=3, unique=True))
    names = draw(st.permutations([DEFAULT_TASK, *others]))
    classes = tuple(replace(entry, searches=draw(search_policies(names, sizes))) for entry in drawn)
    return Policy(
        model=draw(NAMES),
        model_digest=draw(DIGESTS),
        difficulty=difficulty,
        buckets=tuple(BucketSteps(bucket=bucket, max_steps=count) for bucket, count in zip(sizes, steps, strict=True)),
        tasks=tuple(
            draw(task_policies(name, largest=steps[-1], classes=drawn, is_estimated=difficulty is not None))
            for name in names
        ),
        classes=classes,
        default_class=draw(st.sampled_from(classes)).name,
        control=ControlPolicy(
            fraction=draw(SHARES),
            young_fraction=draw(st.floats(0.05, 1)),
            young_until=draw(st.integers(1, 10_000)),
        ),
    )
