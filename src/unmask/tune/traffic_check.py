"""Whether a policy still fits its traffic, by the control runs since its promotion.

Task types are looked at one by one. A policy gives each its own budgets, so a change
of their shares calls for no new one. And within a task type the probability of being
drawn depends on the number of controls so far alone, never on what a request is like
or how it ends. So controls drawn with different probabilities have the same
distribution as long as nothing moves, which is all that a permutation test supposes;
and each is misjudged with the probability that a request of its time is, which is all
that the sequential test supposes. Neither needs weights; the estimates shown beside
them are of all requests and have them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from unmask.control.estimates import RuleEstimate, estimate_rules, labelled
from unmask.control.records import ControlRecord, Label
from unmask.policy.policy import Policy, TaskPolicy
from unmask.stats import IntervalResult, NotEnoughData
from unmask.stats.sequential import Watch, watch_rate
from unmask.tune.drift import MIN_REQUESTS, FeatureDrift, find_drift

RECENT = 2000
"""Most controls of a task type that count as recent: of more, an old one would hide what has moved since."""
STEPS = "steps"
"""The realised steps of the full run, among the features."""

Values: TypeAlias = Mapping[str, Sequence[float]]


class Due(StrEnum):
    """What a check comes to."""

    NOTHING = "nothing to do"
    RECALIBRATE = "recalibrate"
    UNKNOWN = "not enough data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Periods:
    """How many controls of a task type are compared: the first after the promotion, and the latest of those later."""

    task: str
    reference: int
    recent: int

    @property
    def is_enough(self) -> bool:
        """Whether a test says anything."""
        return min(self.reference, self.recent) >= MIN_REQUESTS


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDrift:
    """A feature of a task type that was tested."""

    task: str
    found: FeatureDrift


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleWatch:
    """An exit rule that stops requests, watched since the promotion.

    Attributes:
        misjudgement: of all requests that would have exited, with its 95 % interval.
        watch: the sequential test of the limit, or why there is none.
    """

    task: str
    misjudgement: IntervalResult
    watch: Watch | NotEnoughData


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficCheck:
    """What the controls since a policy's promotion say of it.

    Attributes:
        controls: how many there are.
        drift: tests of the task types with enough controls, the most drifted first; p-values are adjusted for all.
    """

    policy: str
    promoted: datetime
    controls: int
    periods: tuple[Periods, ...]
    drift: tuple[TaskDrift, ...]
    watches: tuple[RuleWatch, ...]

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the policy should be made anew; nothing where it should not."""
        moved = (
            f"{entry.task}: {entry.found.feature} has moved, {entry.found.before:.3g} to {entry.found.after:.3g} on "
            f"average (p {entry.found.adjusted:.2g})"
            for entry in self.drift
            if entry.found.has_drifted()
        )
        return (*moved, *(f"{task}: misjudgement is above its limit" for task in self.alarmed))

    @property
    def alarmed(self) -> tuple[str, ...]:
        """Task types whose exits are wrong more often than they may."""
        return tuple(entry.task for entry in self.watches if isinstance(entry.watch, Watch) and entry.watch.is_alarmed)

    @property
    def due(self) -> Due:
        """What is to be done: something, nothing, or it cannot be told as no task type has enough controls."""
        if self.reasons:
            return Due.RECALIBRATE
        return Due.NOTHING if any(entry.is_enough for entry in self.periods) else Due.UNKNOWN


def check_traffic(
    policy: Policy,
    digest: str,
    promoted: datetime,
    records: Iterable[ControlRecord],
    labels: Iterable[Label] = (),
    *,
    reference: int = MIN_REQUESTS,
    recent: int = RECENT,
    seed: int = 0,
) -> TrafficCheck:
    """Test the controls since a policy's promotion.

    Args:
        policy: the active one.
        digest: names it.
        promoted: when it last became active.
        records: controls, oldest first; those of other policies or from before do not count.
        labels: what people say of them.
        reference: controls of a task type that count as the reference, the first ones.
        recent: most that count as recent, the latest ones.
        seed: of the permutations.
    """
    own = [record for record in records if record.policy == digest and record.time >= promoted.timestamp()]
    known = labelled(own, labels)
    by_task = {
        task: [record for record in known if record.task == task] for task in dict.fromkeys(r.task for r in known)
    }
    sound = [record for record in known if 0 < record.probability <= 1]
    estimates = {found.group.task: found for found in estimate_rules(sound)}
    sides = {task: (found[:reference], found[reference:][-recent:]) for task, found in by_task.items()}
    return TrafficCheck(
        policy=digest,
        promoted=promoted,
        controls=len(own),
        periods=tuple(
            Periods(task=task, reference=len(before), recent=len(after)) for task, (before, after) in sides.items()
        ),
        drift=_drift(sides, seed),
        watches=tuple(
            _watch(entry, by_task.get(entry.task, []), estimates.get(entry.task))
            for entry in policy.tasks
            if entry.exit is not None and entry.exit.enabled
        ),
    )


def _drift(
    sides: Mapping[str, tuple[Sequence[ControlRecord], Sequence[ControlRecord]]], seed: int
) -> tuple[TaskDrift, ...]:
    """Test every feature of every task type that has enough controls, all in one family."""
    before: dict[str, Sequence[float]] = {}
    after: dict[str, Sequence[float]] = {}
    names: dict[str, tuple[str, str]] = {}
    for task, (old, new) in sides.items():
        was, now = _values(old), _values(new)
        for feature in was.keys() & now.keys():
            # What has one value only cannot have moved, and would make the others harder to tell.
            is_constant = len({*was[feature], *now[feature]}) == 1
            if min(len(was[feature]), len(now[feature])) >= MIN_REQUESTS and not is_constant:
                name = f"{task}/{feature}"
                names[name] = (task, feature)
                before[name], after[name] = was[feature], now[feature]
    found = find_drift(before, after, seed) if names else ()
    if isinstance(found, NotEnoughData):
        return ()
    return tuple(
        TaskDrift(task=names[entry.feature][0], found=replace(entry, feature=names[entry.feature][1]))
        for entry in found
    )


def _values(records: Sequence[ControlRecord]) -> Values:
    """Return realised steps, and features as far as there was an estimator, one value a record."""
    found: dict[str, list[float]] = {STEPS: [float(record.steps) for record in records]}
    for record in records:
        for name, value in record.features:
            found.setdefault(name, []).append(value)
    return found


def _watch(entry: TaskPolicy, records: Sequence[ControlRecord], estimate: RuleEstimate | None) -> RuleWatch:
    assert entry.exit is not None, "only exits are watched"
    exits = [record for record in records if record.exit_steps is not None]
    open_ones = [record for record in exits if record.passed is None or record.exit_passed is None]
    strange = [record.probability for record in exits if not 0 < record.probability <= 1]
    watch: Watch | NotEnoughData
    if open_ones:
        # Those that somebody happened to judge are no random sample of them.
        reason = f"{len(open_ones)} of {len(exits)} exits have no verdict; label them with unmask controls label"
        watch = NotEnoughData(n=len(exits) - len(open_ones), reason=reason)
    elif strange:
        reason = f"controls say that they were drawn with probability {strange[0]:g}, so that nobody knows how"
        watch = NotEnoughData(n=len(exits), reason=reason)
    else:
        outcomes = [float(bool(record.passed and not record.exit_passed)) for record in exits]
        watch = watch_rate(outcomes, entry.exit.misjudgement_limit)
    lacking = NotEnoughData(n=0, reason="no controls")
    return RuleWatch(task=entry.task, misjudgement=lacking if estimate is None else estimate.misjudgement, watch=watch)
