"""A replay: what a changed exit would have done to control runs that the present one was watched on."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import NormalDist
from typing import Annotated

from pydantic import AwareDatetime, Field, ValidationError

from unmask.errors import ConfigError, shown
from unmask.policy.digest import canonical_document
from unmask.policy.policy import Policy
from unmask.policy.schema import Digest, Document, Name, Number
from unmask.stats import Interval, NotEnoughData, wilson

LARGEST_FILE = 1 << 20
_CONFIDENCE = 0.95
_Count = Annotated[int, Field(ge=0, le=1 << 53)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedTask:
    """One task type's controls, each judged under both rules.

    Attributes:
        controls: control runs replayed, all of them under both.
        old_misjudged: of them, misjudged by the old rule; ``new_misjudged`` by the new one.
        misjudgement: paired difference of the misjudged share, new minus old, with its 95 % interval.
        steps: the same of denoise steps a request.
    """

    task: str
    controls: int
    old_misjudged: int
    new_misjudged: int
    misjudgement: Interval
    steps: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Old against new on the same controls.

    Attributes:
        old: digest of the policy that was active, ``new`` of the one to submit.
        records: SHA-256 of the control records that it was computed from.
        first: when the oldest of the controls was admitted, ``last`` the newest; both with a time zone.
    """

    old: str
    new: str
    records: str
    first: datetime
    last: datetime
    tasks: tuple[ReplayedTask, ...]


class IntervalDocument(Document):
    """An estimate with the ends of its interval."""

    estimate: Number
    low: Number
    high: Number


class ReplayedTaskDocument(Document):
    """A `ReplayedTask` in a file."""

    task: Name
    controls: _Count
    old_misjudged: _Count
    new_misjudged: _Count
    misjudgement: IntervalDocument
    steps: IntervalDocument


class ReplayDocument(Document):
    """A `Replay` in a file, which is JSON."""

    old: Digest
    new: Digest
    records: Digest
    first: AwareDatetime
    last: AwareDatetime
    tasks: tuple[ReplayedTaskDocument, ...]


def controls_needed(limit: float) -> int:
    """Return the fewest controls after which no misjudgement at all keeps the upper end of Wilson's interval within it.

    381 for a limit of 1 %.
    """
    z = NormalDist().inv_cdf(0.5 + _CONFIDENCE / 2)
    return math.ceil(z * z * (1 - limit) / limit)


def replay_bytes(replay: Replay) -> bytes:
    """Write a replay canonically; the SHA-256 of the bytes names it in the log."""
    return canonical_document(
        ReplayDocument(
            old=replay.old,
            new=replay.new,
            records=replay.records,
            first=replay.first,
            last=replay.last,
            tasks=tuple(
                ReplayedTaskDocument(
                    task=task.task,
                    controls=task.controls,
                    old_misjudged=task.old_misjudged,
                    new_misjudged=task.new_misjudged,
                    misjudgement=_interval_document(task.misjudgement),
                    steps=_interval_document(task.steps),
                )
                for task in replay.tasks
            ),
        )
    )


def read_replay(path: Path) -> Replay:
    """Read a replay's file.

    Raises:
        ConfigError: it cannot be read, or is no replay.
    """
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise ConfigError(f"the replay cannot be read from {path}: {error.strerror}") from error
    if len(content) > LARGEST_FILE:
        raise ConfigError(f"{path} is larger than a replay may be, allowed: up to {LARGEST_FILE} bytes")
    try:
        return parse_replay(content)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.message}", param=error.param) from error


def parse_replay(content: bytes) -> Replay:
    """Read a replay out of JSON.

    Raises:
        ConfigError: a field does not fit, or figures contradict each other.
    """
    try:
        document = ReplayDocument.model_validate_json(content)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False)[0]
        path = ".".join(map(str, found["loc"])) or "the replay"
        raise ConfigError(
            f"{path} is {shown(found['input'])}, which no replay has: {found['msg']}. Write the replay anew.",
            param=path,
        ) from error
    replay = Replay(
        old=document.old,
        new=document.new,
        records=document.records,
        first=document.first,
        last=document.last,
        tasks=tuple(
            ReplayedTask(
                task=task.task,
                controls=task.controls,
                old_misjudged=task.old_misjudged,
                new_misjudged=task.new_misjudged,
                misjudgement=_interval(task.misjudgement),
                steps=_interval(task.steps),
            )
            for task in document.tasks
        ),
    )
    _check_figures(replay)
    return replay


def check_replay(
    replay: Replay,
    *,
    old: str,
    new: str,
    policy: Policy,
    tasks: Iterable[str],
    promoted: datetime | None,
    submitted: datetime,
) -> None:
    """Refuse a replay that is not of this change, is stale, or does not show the new exits to be within their limits.

    Args:
        replay: what was handed in.
        old: digest of the active policy.
        new: digest of the one to submit.
        policy: the one to submit.
        tasks: the task types whose exit changes.
        promoted: when the active one was promoted; older controls were drawn under another policy.
        submitted: when it is handed in.

    Raises:
        ConfigError: names the field of the replay, its value, what is allowed, and the fix.
    """
    again = "Replay the change again."
    for name, value, wanted in (("old", replay.old, old), ("new", replay.new, new)):
        if value != wanted:
            raise _misfit(f"replay.{name}", value, wanted, again)
    if promoted is not None and replay.first < promoted:
        fresh = f"no control from before the active policy's promotion at {promoted.isoformat()}"
        raise _misfit("replay.first", replay.first.isoformat(), fresh, again)
    if replay.last > submitted:
        raise _misfit("replay.last", replay.last.isoformat(), f"at most {submitted.isoformat()}, which is now", again)
    found = {task.task: task for task in replay.tasks}
    for name in tasks:
        if name not in found:
            raise _misfit("replay.tasks", list(found), f"{name} among them, whose exit changes", again)
        exit_policy = policy.task(name).exit
        assert exit_policy is not None, name
        _check_task(found[name], exit_policy.misjudgement_limit)


def _check_task(task: ReplayedTask, limit: float) -> None:
    path = f"replay.tasks.{task.task}"
    needed = controls_needed(limit)
    if task.controls < needed:
        allowed = f"at least {needed} for a misjudgement limit of {limit:g}"
        raise _misfit(f"{path}.controls", task.controls, allowed, "Wait for more control runs.")
    share = wilson(task.new_misjudged, task.controls, _CONFIDENCE)
    assert not isinstance(share, NotEnoughData), task
    if share.high > limit:
        allowed = f"so few of {task.controls} that at most a share of {limit:g} is certain"
        raise _misfit(
            f"{path}.new_misjudged", task.new_misjudged, allowed, "Make the exit stricter, or leave it disabled."
        )


def _check_figures(replay: Replay) -> None:
    again = "Write the replay anew."
    if replay.first > replay.last:
        allowed = f"at most replay.last, which is {replay.last.isoformat()}"
        raise _misfit("replay.first", replay.first.isoformat(), allowed, again)
    names = [task.task for task in replay.tasks]
    if len(set(names)) < len(names):
        raise _misfit("replay.tasks", names, "each task type once", again)
    for task in replay.tasks:
        path = f"replay.tasks.{task.task}"
        for name, count in (("old_misjudged", task.old_misjudged), ("new_misjudged", task.new_misjudged)):
            if count > task.controls:
                raise _misfit(f"{path}.{name}", count, f"at most its controls, which are {task.controls}", again)
        for name, interval in (("misjudgement", task.misjudgement), ("steps", task.steps)):
            if not interval.low <= interval.estimate <= interval.high:
                raise _misfit(f"{path}.{name}", interval.estimate, f"from {interval.low} to {interval.high}", again)
        if task.controls:
            share = (task.new_misjudged - task.old_misjudged) / task.controls
            if not math.isclose(task.misjudgement.estimate, share, abs_tol=1e-9):
                raise _misfit(f"{path}.misjudgement.estimate", task.misjudgement.estimate, f"{share}", again)


def _misfit(path: str, value: object, allowed: str, fix: str) -> ConfigError:
    return ConfigError(f"{path} is {shown(value)}, allowed: {allowed}. {fix}", param=path)


def _interval(document: IntervalDocument) -> Interval:
    return Interval(estimate=document.estimate, low=document.low, high=document.high)


def _interval_document(interval: Interval) -> IntervalDocument:
    return IntervalDocument(estimate=interval.estimate, low=interval.low, high=interval.high)
