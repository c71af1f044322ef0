"""What controls say of an exit rule: how often it misjudges, and what it saves."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from unmask.control.records import ControlRecord, Label
from unmask.control.verdict import Judge
from unmask.stats import IntervalResult, weighted_rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Controls that may be counted together: of one rule, on one task type, of one model."""

    model: str
    model_digest: str
    policy: str
    task: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleEstimate:
    """What the controls of a group say of its exit rule. Rates are shares of the requests that would have exited.

    Each control counts the inverse of the probability it was drawn with, so rates are those of all requests; intervals
    are of 95 %, by `unmask.stats.weighted_rate`. A rate that rests on nothing is `NotEnoughData`.

    Attributes:
        controls: how many there are.
        exits: how many of them would have exited.
        judged: of these, how many have a verdict on both texts.
        judges: who gave them.
        exit_rate: share of controls that would have exited.
        misjudgement: the exit's text fails, and the full run's passes.
        reverse: the exit's text passes, and the full run's fails.
        both_wrong: both fail.
        divergence: the two texts differ, of all that would have exited; this alone says nothing of quality.
        steps: denoise steps of the controls.
        extra_steps: those beyond where the controls would have exited: what it costs to have controls.
    """

    group: Group
    controls: int
    exits: int
    judged: int
    judges: tuple[Judge, ...]
    exit_rate: IntervalResult
    misjudgement: IntervalResult
    reverse: IntervalResult
    both_wrong: IntervalResult
    divergence: IntervalResult
    steps: int
    extra_steps: int


def estimate_rules(records: Iterable[ControlRecord], labels: Iterable[Label] = ()) -> tuple[RuleEstimate, ...]:
    """Return what controls say of every rule there are controls of, in the order in which groups appear.

    Of labels on one control the last counts, and over what a verifier says.
    """
    groups = defaultdict[Group, list[ControlRecord]](list)
    for record in labelled(records, labels):
        groups[group_of(record)].append(record)
    return tuple(_estimate(group, found) for group, found in groups.items())


def labelled(records: Iterable[ControlRecord], labels: Iterable[Label]) -> tuple[ControlRecord, ...]:
    """Return records with what people say of them: of labels on one control the last counts, over any verifier."""
    said = {label.control: label for label in labels}
    return tuple(_labelled(record, said.get(record.id)) for record in records)


def group_of(record: ControlRecord) -> Group:
    """Return what a control may be counted together with."""
    return Group(model=record.model, model_digest=record.model_digest, policy=record.policy, task=record.task)


def _labelled(record: ControlRecord, label: Label | None) -> ControlRecord:
    if label is None:
        return record
    exit_passed = None if record.exit_steps is None else label.exit_passed
    return replace(record, judges=(Judge.PERSON,), passed=label.passed, exit_passed=exit_passed)


def _estimate(group: Group, controls: Sequence[ControlRecord]) -> RuleEstimate:
    exits = [control for control in controls if control.exit_steps is not None]
    judged = [control for control in exits if control.passed is not None and control.exit_passed is not None]
    found = {judge for control in judged for judge in control.judges}
    return RuleEstimate(
        group=group,
        controls=len(controls),
        exits=len(exits),
        judged=len(judged),
        judges=tuple(judge for judge in Judge if judge in found),
        exit_rate=_rate(controls, lambda control: control.exit_steps is not None),
        misjudgement=_rate(judged, lambda control: bool(control.passed and not control.exit_passed)),
        reverse=_rate(judged, lambda control: bool(control.exit_passed and not control.passed)),
        both_wrong=_rate(judged, lambda control: not control.passed and not control.exit_passed),
        divergence=_rate(exits, lambda control: bool(control.diverged)),
        steps=sum(control.steps for control in controls),
        extra_steps=sum(control.steps - (control.exit_steps or 0) for control in exits),
    )


def _rate(controls: Sequence[ControlRecord], holds: Callable[[ControlRecord], bool]) -> IntervalResult:
    return weighted_rate([holds(control) for control in controls], [control.probability for control in controls])
