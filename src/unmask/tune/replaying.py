"""Replays old against new exits on the same control runs: the evidence that a changed exit is approved by.

Records of controls hold what was asked and what was answered, not the signals of every step, so a control is run again
with a trace. One that does not come out as it was recorded, as it was asked with other settings than its record tells,
is left out and counted. Temperature, canvas length and a form that was asked for are such settings.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby

import orjson

from unmask.backend import Backend, Generation, Request
from unmask.control.check import AnswerCheck, make_check
from unmask.control.records import ControlRecord, Label
from unmask.control.verdict import Judge
from unmask.policy.exit_replay import replay
from unmask.policy.policy import TaskPolicy
from unmask.policy.replay import Replay, ReplayedTask
from unmask.stats import NotEnoughData, paired_difference
from unmask.strategy import StrategyChoice
from unmask.tasks.registry import all_tasks
from unmask.tune.errors import ExitRunError
from unmask.tune.exit_measure import is_exact
from unmask.tune.in_flight import run_in_flight
from unmask.types import ExitPlan, Outcome, StepBudget


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedPolicy:
    """A policy's digest and its entries, whatever their strategies have learnt filled in."""

    digest: str
    tasks: Mapping[str, TaskPolicy]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ended:
    exited: bool
    steps: int
    misjudged: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    record: ControlRecord
    old: _Ended
    new: _Ended


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReplay:
    """What became of a task type's controls.

    Attributes:
        controls: of the old policy; of these, ``unjudged`` have nobody who could judge another text, and ``changed``
            came out otherwise than recorded.
        new_exits: those in which the new rule would have exited; only they are in the evidence.
        old_only: in which only the old one would have, and ``old_only_misjudged`` of them it misjudged.
    """

    task: str
    controls: int
    unjudged: int
    changed: int
    new_exits: int
    old_only: int
    old_only_misjudged: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """The evidence, and what it leaves out; without evidence where no task type has enough controls."""

    evidence: Replay | None
    tasks: tuple[TaskReplay, ...]


async def replay_controls(
    backend: Backend,
    records: Sequence[ControlRecord],
    labels: Iterable[Label],
    old: ReplayedPolicy,
    new: ReplayedPolicy,
    *,
    in_flight: int,
    seed: int,
) -> Replayed:
    """Replay the controls of the old policy, of task types that have an exit rule in both.

    A task type's evidence is of the controls in which the new rule would have exited: the share that its limit bounds
    is one of exits, and others would dilute it.

    Raises:
        ExitRunError: the backend failed a request.
        UnmaskError: it refused one.
    """
    said = {label.control: label for label in labels}
    fresh = [record for record in records if record.policy == old.digest and _is_watched(record.task, old, new)]
    pairs: list[_Pair] = []
    left_out: Counter[tuple[str, str]] = Counter()

    async def work(record: ControlRecord) -> None:
        verdict = _verdict(record, said.get(record.id))
        if verdict is None:
            left_out[record.task, "unjudged"] += 1
            return
        found = await _pair(backend, record, verdict, old.tasks[record.task], new.tasks[record.task])
        if found is None:
            left_out[record.task, "changed"] += 1
        else:
            pairs.append(found)

    await run_in_flight(fresh, work, in_flight)
    pairs.sort(key=lambda pair: (pair.record.time, pair.record.id))
    names = tuple(dict.fromkeys(record.task for record in fresh))
    return Replayed(
        evidence=_evidence(pairs, old, new, seed),
        tasks=tuple(_task_replay(name, fresh, pairs, left_out) for name in names),
    )


def _is_watched(task: str, old: ReplayedPolicy, new: ReplayedPolicy) -> bool:
    return all(task in side.tasks and side.tasks[task].exit is not None for side in (old, new))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verdict:
    """Judges texts: a person's word on the two that were recorded counts over the verifier's."""

    check: AnswerCheck
    known: Mapping[str, bool]

    def __call__(self, text: str) -> bool:
        return self.known[text] if text in self.known else self.check.passes(text)


def _verdict(record: ControlRecord, label: Label | None) -> _Verdict | None:
    check = make_check(record.messages, all_tasks().get(record.task), None)
    if check is None or Judge.FORMAT in record.judges:
        return None
    known = {} if label is None else {record.text: label.passed}
    if label is not None and record.exit_text is not None:
        known[record.exit_text] = label.exit_passed
    return _Verdict(check=check, known=known)


async def _pair(
    backend: Backend, record: ControlRecord, verdict: _Verdict, old: TaskPolicy, new: TaskPolicy
) -> _Pair | None:
    full = await _run(backend, record, verdict, old.strategy)
    if (full.text, full.usage.steps_used) != (record.text, record.steps):
        return None
    other = full if new.strategy == old.strategy else await _run(backend, record, verdict, new.strategy)
    return _Pair(
        record=record,
        old=await _ended(backend, record, verdict, old, full),
        new=await _ended(backend, record, verdict, new, other),
    )


async def _run(
    backend: Backend,
    record: ControlRecord,
    verdict: _Verdict,
    strategy: StrategyChoice | None,
    plan: ExitPlan | None = None,
) -> Generation:
    found = await backend.generate(
        Request(
            model=record.model,
            messages=record.messages,
            budget=StepBudget(max_steps=record.max_steps),
            strategy=strategy or StrategyChoice(),
            trace=True,
            exit=plan,
            check=verdict.check,
        )
    )
    if found.outcome is not Outcome.COMPLETED:
        raise ExitRunError(f"control {record.id} {found.outcome}: {found.error or 'no reason given'}")
    return found


async def _ended(
    backend: Backend, record: ControlRecord, verdict: _Verdict, entry: TaskPolicy, full: Generation
) -> _Ended:
    """Return how a control ends under a rule: from the full run's trace, or run again where that does not tell."""
    assert entry.exit is not None, entry.task
    rule = entry.exit.rule
    met = replay(rule, full.trace)
    if met is None:
        return _Ended(exited=False, steps=full.usage.steps_used, misjudged=False)
    steps, text = met.steps, met.text
    if not is_exact(rule, full.trace):
        stopped = await _run(backend, record, verdict, entry.strategy, ExitPlan(rule=rule))
        steps, text = stopped.usage.steps_used, stopped.text
    return _Ended(exited=True, steps=steps, misjudged=verdict(full.text) and not verdict(text))


def _evidence(pairs: Sequence[_Pair], old: ReplayedPolicy, new: ReplayedPolicy, seed: int) -> Replay | None:
    exits = sorted((pair for pair in pairs if pair.new.exited), key=lambda pair: pair.record.task)
    grouped = [(task, list(found)) for task, found in groupby(exits, key=lambda pair: pair.record.task)]
    tasks = [entry for task, found in grouped if (entry := _replayed(task, found, seed)) is not None]
    used = [pair.record for pair in pairs if pair.new.exited and pair.record.task in {entry.task for entry in tasks}]
    if not used:
        return None
    times = [record.time for record in used]
    return Replay(
        old=old.digest,
        new=new.digest,
        records=hashlib.sha256(b"\n".join(map(orjson.dumps, used))).hexdigest(),
        first=datetime.fromtimestamp(min(times), UTC),
        last=datetime.fromtimestamp(max(times), UTC),
        tasks=tuple(tasks),
    )


def _replayed(task: str, pairs: Sequence[_Pair], seed: int) -> ReplayedTask | None:
    before, after = [pair.old.misjudged for pair in pairs], [pair.new.misjudged for pair in pairs]
    old_steps, new_steps = [float(pair.old.steps) for pair in pairs], [float(pair.new.steps) for pair in pairs]
    most = max((*old_steps, *new_steps))
    misjudgement = paired_difference([*map(float, after)], [*map(float, before)], seed, bounds=(-1, 1))
    steps = paired_difference(new_steps, old_steps, seed, bounds=(-most, most))
    if isinstance(misjudgement, NotEnoughData) or isinstance(steps, NotEnoughData):
        return None
    return ReplayedTask(
        task=task,
        controls=len(pairs),
        old_misjudged=sum(before),
        new_misjudged=sum(after),
        misjudgement=misjudgement,
        steps=steps,
    )


def _task_replay(
    task: str, fresh: Sequence[ControlRecord], pairs: Sequence[_Pair], left_out: Counter[tuple[str, str]]
) -> TaskReplay:
    own = [pair for pair in pairs if pair.record.task == task]
    old_only = [pair for pair in own if pair.old.exited and not pair.new.exited]
    return TaskReplay(
        task=task,
        controls=sum(record.task == task for record in fresh),
        unjudged=left_out[task, "unjudged"],
        changed=left_out[task, "changed"],
        new_exits=sum(pair.new.exited for pair in own),
        old_only=len(old_only),
        old_only_misjudged=sum(pair.old.misjudged for pair in old_only),
    )
