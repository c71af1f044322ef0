"""What a new policy keeps of the one before: what people have decided, which no curve knows of."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from unmask.policy.policy import DEFAULT_TASK, ClassPolicy, ExitPolicy, Policy
from unmask.strategy import StrategyChoice
from unmask.tune.propose import Proposal, Source
from unmask.tune.settings import CurveSettings
from unmask.tune.start import Start


def carried_start(old: Policy | None) -> Start:
    """Return starting values with the losses that were allowed before."""
    return Start() if old is None else Start(alphas={task.task: task.alpha for task in old.tasks})


def carried_exits(old: Policy | None, curves: CurveSettings, alarmed: Collection[str] = ()) -> Mapping[str, ExitPolicy]:
    """Return the exits of an old policy of the same weights that a new one may keep.

    A rule is kept where it was tuned for the strategy that its task type's curve is of; one whose misjudgement is above
    its limit only observes.
    """
    if old is None:
        return {}
    return {
        task.task: replace(task.exit, enabled=task.exit.enabled and task.task not in alarmed)
        for task in old.tasks
        if task.exit is not None
        and task.task in curves.tasks
        and task.task != DEFAULT_TASK
        and (task.strategy or StrategyChoice()) == curves.strategy_of(task.task)
    }


def carried(proposal: Proposal, old: Policy | None) -> Proposal:
    """Return a proposal with the service classes and the control fractions of an old policy."""
    if old is None:
        return proposal
    floor = max(task.floor for task in proposal.policy.tasks)
    classes = tuple(_raised(entry, floor) for entry in old.classes)
    policy = replace(proposal.policy, classes=classes, default_class=old.default_class, control=old.control)
    control = old.control
    sources = [source for source in proposal.sources if not _is_decided(source.place)]
    return Proposal(
        policy=policy,
        sources=(
            *sources,
            *(
                Source(
                    place=f"class {entry.name}",
                    value=f"at most {entry.max_steps}",
                    source="kept" if entry == before else "kept, its cap raised to the largest floor",
                )
                for entry, before in zip(classes, old.classes, strict=True)
            ),
            Source(place="control", value=f"{control.young_fraction:g}, then {control.fraction:g}", source="kept"),
        ),
    )


def _raised(entry: ClassPolicy, floor: int) -> ClassPolicy:
    """No cap may be under the floor of a task type."""
    most = max(entry.max_steps, floor)
    total = entry.max_total_steps
    return replace(entry, max_steps=most, max_total_steps=None if total is None else max(total, most))


def _is_decided(place: str) -> bool:
    return place == "control" or place.startswith("class ")
