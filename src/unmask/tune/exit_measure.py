"""Measures a setting on items: replayed from traces where that is exact, run where it is not."""

from collections.abc import Sequence
from itertools import groupby

from unmask.backend import ExitRecord
from unmask.policy.exit_replay import first_exit, replay
from unmask.tasks.item import Item
from unmask.tasks.registry import all_tasks
from unmask.tune.exit_figures import ItemOutcome
from unmask.tune.exit_rules import REFERENCE, Setting
from unmask.tune.exit_runs import ExitRun, ExitRunner
from unmask.types import ExitRule, StepTrace


async def measure_setting(
    runner: ExitRunner, items: Sequence[Item], ceiling: int, setting: Setting
) -> tuple[ItemOutcome, ...]:
    """Return what a setting does to each item, and what it takes to the end of its budget.

    Raises:
        ExitRunError: the backend failed a request.
        UnmaskError: it refused one.
    """
    reference = await runner.run(items, ceiling, REFERENCE)
    full = await runner.run(items, ceiling, setting.strategy)
    if setting.rule is None:
        return tuple(_outcome(one, run, None) for one, run in zip(reference, full, strict=True))
    traces = [tuple(step.trace() for step in run.trace) for run in full]
    replayed = [replay(setting.rule, trace) for trace in traces]
    inexact = [
        item
        for item, trace, record in zip(items, traces, replayed, strict=True)
        if record is not None and not is_exact(setting.rule, trace)
    ]
    stopped = {run.key.item: run for run in await runner.run(inexact, ceiling, setting.strategy, setting.rule)}
    return tuple(
        _outcome(one, run, stopped.get(item.digest) or _judged(item, run, record))
        for item, one, run, record in zip(items, reference, full, replayed, strict=True)
    )


def is_exact(rule: ExitRule, trace: Sequence[StepTrace]) -> bool:
    """Tell whether a replay says what stopping gives: the first exit's draft ends the answer.

    Where the answer goes on behind an exit, its next canvas has another context than in the full run.
    """
    for _, canvas in groupby(trace, key=lambda entry: entry.canvas):
        found = first_exit(rule, tuple(canvas))
        if found is not None:
            return found.ends
    return True


def _judged(item: Item, run: ExitRun, record: ExitRecord | None) -> ExitRun | None:
    if record is None:
        return None
    correct = all_tasks()[item.task].check(item, record.text).passed
    return ExitRun(key=run.key, steps=record.steps, correct=correct, trace=())


def _outcome(reference: ExitRun, full: ExitRun, stopped: ExitRun | None) -> ItemOutcome:
    end = stopped or full
    return ItemOutcome(
        reference_steps=reference.steps,
        reference_correct=reference.correct,
        full_steps=full.steps,
        full_correct=full.correct,
        exited=stopped is not None,
        steps=end.steps,
        correct=end.correct,
    )
