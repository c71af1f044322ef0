"""Runs of items with as much of their traces as exit rules read, each made once."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import orjson

from unmask.backend import Backend, Generation
from unmask.strategy import StrategyChoice
from unmask.tasks.item import Item
from unmask.tasks.registry import all_tasks
from unmask.tune.asking import Asking, completed
from unmask.tune.in_flight import run_in_flight
from unmask.tune.task_strategy import strategy_name
from unmask.types import ExitPlan, ExitRule, Progress, ProgressSignal, StepTrace


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptStep:
    """What exit rules read of a step.

    Attributes:
        done: whether the step has finished its canvas.
        values: the signals in the order of `unmask.types.ProgressSignal`.
        data: bytes that the draft would add to the answer, in hexadecimal.
    """

    canvas: int
    step: int
    done: bool
    filled: int
    values: tuple[float | None, ...]
    data: str
    ends: bool

    def trace(self) -> StepTrace:
        """Return the step as `unmask.policy.exit_replay` takes it: of its canvas only whether it is finished."""
        return StepTrace(
            canvas=self.canvas,
            step=self.step,
            max_steps=0,
            draft=(),
            fixed=(self.done,),
            confidence=(),
            entropy=(),
            progress=Progress(filled=self.filled, values=tuple(zip(ProgressSignal, self.values, strict=True))),
            data=bytes.fromhex(self.data),
            ends=self.ends,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunKey:
    """Names a run: the item, the most steps of a canvas, and how it was run.

    Attributes:
        rule: digest of the exit rule that stopped it; ``None`` for a run to its end.
    """

    task: str
    item: str
    budget: int
    strategy: str
    rule: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitRun:
    """How a run ended; ``trace`` is empty where a rule was allowed to stop it."""

    key: RunKey
    steps: int
    correct: bool
    trace: tuple[KeptStep, ...]


class RunLog(Protocol):
    """Where runs are kept, so that none is made twice."""

    def find(self, key: RunKey) -> ExitRun | None:
        """Return a run that was made."""
        ...

    def note(self, run: ExitRun) -> None:
        """Keep a run."""
        ...


class ExitRunner:
    """Runs items through a backend, a bounded number at a time, and keeps what they did."""

    def __init__(self, backend: Backend, asking: Asking, log: RunLog, *, in_flight: int) -> None:
        self._backend = backend
        self._asking = asking
        self._log = log
        self._in_flight = in_flight

    async def run(
        self, items: Sequence[Item], budget: int, strategy: StrategyChoice, rule: ExitRule | None = None
    ) -> tuple[ExitRun, ...]:
        """Run items to their end, or until a rule stops them; in the order of the items.

        Raises:
            ExitRunError: the backend failed a request.
            UnmaskError: it refused one.
        """
        keys = {item.digest: run_key(item, budget, strategy, rule) for item in items}

        async def work(item: Item) -> None:
            plan = None if rule is None else ExitPlan(rule=rule)
            request = self._asking.request(item, budget, strategy, plan)
            generation = completed(await self._backend.generate(request), item)
            self._log.note(_kept(keys[item.digest], item, generation, is_whole=rule is None))

        await run_in_flight(
            [item for item in items if self._log.find(keys[item.digest]) is None], work, self._in_flight
        )
        found = (self._log.find(keys[item.digest]) for item in items)
        return tuple(run for run in found if run is not None)


def run_key(item: Item, budget: int, strategy: StrategyChoice, rule: ExitRule | None = None) -> RunKey:
    """Return the name of a run."""
    return RunKey(
        task=item.task,
        item=item.digest,
        budget=budget,
        strategy=strategy_name(strategy),
        rule=None if rule is None else rule_digest(rule),
    )


def rule_digest(rule: ExitRule) -> str:
    """Return the first digits of the SHA-256 of what a rule says."""
    return hashlib.sha256(orjson.dumps(rule)).hexdigest()[:16]


def _kept(key: RunKey, item: Item, generation: Generation, *, is_whole: bool) -> ExitRun:
    return ExitRun(
        key=key,
        steps=generation.usage.steps_used,
        correct=all_tasks()[item.task].check(item, generation.text).passed,
        trace=tuple(map(_step, generation.trace)) if is_whole else (),
    )


def _step(entry: StepTrace) -> KeptStep:
    progress = entry.progress or Progress(filled=0)
    return KeptStep(
        canvas=entry.canvas,
        step=entry.step,
        done=all(entry.fixed),
        filled=progress.filled,
        values=tuple(progress[signal] for signal in ProgressSignal),
        data=entry.data.hex(),
        ends=entry.ends,
    )
