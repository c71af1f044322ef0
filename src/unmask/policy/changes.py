"""What differs between two policies, field by field."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from unmask.policy.convert import document_of
from unmask.policy.policy import Policy
from unmask.types import ExitRule, LearnedExit

Scalar: TypeAlias = str | int | float | bool | None

_CAPS = frozenset(
    {
        "floor",
        "default",
        "ceiling",
        "max_steps",
        "max_total_steps",
        "re_expansions",
        "re_expansion_factor",
        "deadline_s",
        "weight",
        "min_share",
        "max_share",
        "smaller_bucket",
        "quality_floor",
    }
)
_OF_TASK = 2
"""Place of a task type's field in a path such as tasks.lookup.floor."""


class ChangeKind(StrEnum):
    """What a changed field is: caps and thresholds are what an approval is about."""

    CAP = "cap"
    THRESHOLD = "threshold"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One field that differs; ``None`` is a field that is left out."""

    path: tuple[str, ...]
    old: Scalar
    new: Scalar

    @property
    def field(self) -> str:
        """The path as it is written."""
        return ".".join(self.path)

    @property
    def kind(self) -> ChangeKind:
        """Whether it is a cap, a threshold, or neither."""
        match self.path:
            case ("buckets", *_):
                return ChangeKind.CAP
            case ("classes" | "tasks", _, name) if name in _CAPS:
                return ChangeKind.CAP
            case ("classes", _, "searches", *_):
                # It multiplies what a request may take.
                return ChangeKind.CAP
            case ("control", *_) | ("difficulty",):
                return ChangeKind.THRESHOLD
            case ("tasks", _, "exit" | "strategy" | "alpha" | "shift" | "finality" | "precision", *_):
                return ChangeKind.THRESHOLD
            case _:
                return ChangeKind.OTHER

    @property
    def needs_approval(self) -> bool:
        """Whether it moves a cap or a threshold."""
        return self.kind is not ChangeKind.OTHER

    @property
    def task(self) -> str | None:
        """The task type whose exit it is about, if it is about one."""
        return self.path[1] if self.path[0] == "tasks" and self.path[_OF_TASK : _OF_TASK + 1] == ("exit",) else None


def changes_between(old: Policy | None, new: Policy) -> tuple[Change, ...]:
    """Return every field that differs, in the order of the schema; without an old policy every field does."""
    before = {} if old is None else dict(_leaves(document_of(old).model_dump(mode="json", exclude_none=True), ()))
    after = dict(_leaves(document_of(new).model_dump(mode="json", exclude_none=True), ()))
    paths = [*after, *(path for path in before if path not in after)]
    return tuple(
        Change(path=path, old=before.get(path), new=after.get(path))
        for path in paths
        if path not in before or path not in after or before[path] != after[path]
    )


def changed_exits(old: Policy | None, new: Policy) -> tuple[str, ...]:
    """Return the task types that ``new`` stops by a rule by which ``old`` does not stop them.

    An exit that is taken away or only observes can misjudge nothing, so it is
    not among them; nor is anything where there was no policy before.
    """
    if old is None:
        return ()
    return tuple(
        task.task
        for task in new.tasks
        if (rule := _stopping_rule(new, task.task)) is not None and rule != _stopping_rule(old, task.task)
    )


def _stopping_rule(policy: Policy, task: str) -> ExitRule | None:
    """Return the rule that stops a task type's requests, with its conditions in one order."""
    found = policy.task(task).exit
    if found is None or not found.enabled:
        return None
    rule, learned = found.rule, found.rule.learned
    return ExitRule(
        conditions=tuple(sorted(rule.conditions, key=lambda condition: condition.signal)),
        learned=None if learned is None else _in_order(learned),
        patience=rule.patience,
        min_steps=rule.min_steps,
    )


def _in_order(learned: LearnedExit) -> LearnedExit:
    return LearnedExit(
        version=learned.version,
        bias=learned.bias,
        weights=tuple(sorted(learned.weights)),
        threshold=learned.threshold,
    )


def _leaves(value: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Scalar]]:
    if isinstance(value, Mapping):
        for name, entry in value.items():
            yield from _leaves(entry, (*path, str(name)))
    else:
        assert value is None or isinstance(value, str | int | float), value
        yield path, value
