"""``unmask bench agreement``: a checkpoint with an approximate cache against the same one without."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from unmask.backend import ModelInfo, Request
from unmask.bench.agreement import Answer, agreement_figures
from unmask.bench.drive import drive
from unmask.bench.report import BenchReport, Figure, Record, measured
from unmask.bench.workload import mixture_item
from unmask.clock import Clock
from unmask.engine.engine import Engine
from unmask.engine.families.folder import Say
from unmask.engine.families.runner import FamilyRunner
from unmask.errors import UnmaskError
from unmask.local.checkpoint import LoadedCheckpoint, load_checkpoint, put_behind_core
from unmask.local.checkpoint_files import Wanted
from unmask.local.limits import make_submission
from unmask.local.model import ServedModel
from unmask.local.places import served_name
from unmask.sched.settings import SchedSettings
from unmask.stats import ratio_interval
from unmask.tasks.item import Item
from unmask.tasks.registry import all_tasks
from unmask.text.chat import ChatTokenizer
from unmask.types import ApproximateCache, ApproximateKv, StepBudget

OFF = ApproximateCache.OFF.value
SETTINGS = SchedSettings(pages=512)
FULL, QUICK = 320, 32
"""Items: a round is as many as run at once, and an interval of speed needs ten rounds."""
_DRAWS_AN_ITEM = 100

Progress = Callable[[str, float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What is compared: a checkpoint's folder, the cache, items (``None``: as many as usual) and steps of a canvas."""

    path: Path
    approximate: ApproximateKv
    items: int | None = None
    steps: int | None = None


@dataclass(slots=True, kw_only=True)
class _Arm:
    """One way to serve the checkpoint, and what it has taken: seconds and steps of every round, and its answers."""

    name: str
    served: ServedModel
    seconds: list[float]
    steps: list[int]
    answers: list[Answer]

    @property
    def forwarded(self) -> int:
        """Tokens that it has run."""
        engine = self.served.core.engine
        assert isinstance(engine, Engine), "checkpoints are served by engines of our own"
        assert isinstance(engine.runner, FamilyRunner), "and run by these"
        return engine.runner.forwarded


def run_agreement_bench(
    compared: Compared, clock: Clock, *, seed: int, quick: bool, progress: Progress, say: Say
) -> BenchReport:
    """Answer the same items with the cache and without, in turns.

    Raises:
        CheckpointFolderError: the checkpoint cannot be served.
        ConfigError: its cache is exact, or memory has no room.
        UnmaskError: too few items fit into its context.
    """
    wanted = Wanted(approximate=compared.approximate)
    loaded = load_checkpoint(compared.path, served_name(str(compared.path)), SETTINGS, say=say, wanted=wanted)
    items = _items(compared.items or (QUICK if quick else FULL), seed, loaded.info, loaded.tokenizer)
    off, on = (_arm(loaded, clock, each) for each in (ApproximateKv(), compared.approximate))
    rows = SETTINGS.max_rows
    rounds = [items[first : first + rows] for first in range(0, len(items), rows)]
    for number, asked in enumerate(rounds):
        progress(f"round {number + 1} of {len(rounds)}", number / len(rounds))
        for arm in Random(f"{seed}/{number}").sample((off, on), 2):
            _answer(arm, asked, compared.steps, clock)
    progress("done", 1.0)
    info = on.served.info
    assert info.precision is not None, "a checkpoint knows its precision"
    return BenchReport(
        name="agreement",
        model=info.name,
        model_digest=info.digest,
        precision=info.precision,
        seed=seed,
        quick=quick,
        figures=(*_speed(off, on, seed), *agreement_figures(on.name, off.answers, on.answers, seed)),
        must_reach=(),
        records=tuple(_record(arm.name, answer) for arm in (off, on) for answer in arm.answers),
    )


def _items(count: int, seed: int, info: ModelInfo, tokenizer: ChatTokenizer) -> list[Item]:
    """Draw different test items of the frozen mixture whose prompts leave room for an answer."""
    rng = Random(seed)
    room = info.context_length - info.default_max_tokens
    found: dict[str, Item] = {}
    for _ in range(count * _DRAWS_AN_ITEM):
        item = mixture_item(rng)
        if len(tokenizer.encode_chat(item.messages)) <= room:
            found.setdefault(item.digest, item)
        if len(found) == count:
            return list(found.values())
    raise UnmaskError(
        f"the context of {info.name}, {info.context_length} tokens, has room for only {len(found)} of {count} items "
        f"with answers of {info.default_max_tokens} tokens: choose fewer with --items"
    )


def _arm(loaded: LoadedCheckpoint, clock: Clock, approximate: ApproximateKv) -> _Arm:
    served = put_behind_core(loaded, SETTINGS, clock, approximate=approximate)
    return _Arm(name=approximate.cache.value, served=served, seconds=[], steps=[], answers=[])


def _answer(arm: _Arm, items: Sequence[Item], steps: int | None, clock: Clock) -> None:
    """Have an arm answer the items of a round."""
    info, tokenizer = arm.served.info, arm.served.tokenizer
    budget = None if steps is None else StepBudget(max_steps=steps)
    requests = [Request(model=info.name, messages=item.messages, budget=budget) for item in items]
    work = [make_submission(each, info, tuple(tokenizer.encode_chat(each.messages))) for each in requests]
    run = drive(arm.served.core, work, clock)
    arm.seconds.append(run.seconds)
    arm.steps.append(sum(sequence.steps for sequence in run.sequences))
    for item, sequence in zip(items, run.sequences, strict=True):
        assert sequence.started is not None, "a driven sequence has run"
        assert sequence.finished is not None, "and has ended"
        right = all_tasks()[item.task].check(item, sequence.text).passed
        arm.answers.append(
            Answer(
                item=item,
                tokens=tuple(sequence.output),
                steps=sequence.steps,
                seconds=sequence.finished - sequence.started,
                is_right=right,
            )
        )


def _speed(off: _Arm, on: _Arm, seed: int) -> list[Figure]:
    """Return steps a second, what a step runs, and how many times as quick the steps are, round by round."""
    figures = [
        figure
        for arm in (off, on)
        for figure in (
            Figure(name=f"{arm.name}.steps_per_s", value=sum(arm.steps) / sum(arm.seconds), unit="1/s"),
            Figure(name=f"{arm.name}.tokens_per_step", value=arm.forwarded / sum(arm.steps), note="run in a forward"),
        )
    ]
    slow, quick = (np.array(arm.seconds) / np.array(arm.steps) for arm in (off, on))
    ratio = ratio_interval(slow, quick, seed, paired=True)
    return [
        *figures,
        measured(
            f"steps_per_s_vs_{OFF}", ratio, fallback=float(slow.mean() / quick.mean()), note="rounds resampled in pairs"
        ),
    ]


def _record(arm: str, answer: Answer) -> Record:
    return Record(
        item=answer.item.digest,
        arm=arm,
        task=answer.item.task,
        difficulty=str(answer.item.difficulty),
        steps=answer.steps,
        seconds=answer.seconds,
        correct=answer.is_right,
    )
