"""The one look at test items: every arm on every item, side by side."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from random import Random
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from unmask.bench.policy_under_test import Given
from unmask.bench.report import Record
from unmask.bench.trial import Answer, Setup, Trial
from unmask.bench.tuning_journal import Key, TuningJournal
from unmask.errors import UnmaskError
from unmask.tasks.item import Item, Split, split_of

WAVE = 192
"""Trials that are run in one go, an item's arms never apart."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ArmRuns:
    """An arm's answers, one value an item: denoise steps, output tokens, seconds, and 1 where right, else 0."""

    name: str
    setups: tuple[Setup, ...]
    steps: Floats
    tokens: Floats
    seconds: Floats
    correct: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Look:
    """Items with what the policy gives each, and the arms' answers to them.

    Attributes:
        hardest: the third that looks hardest.
    """

    mixture: str
    items: tuple[Item, ...]
    given: tuple[Given, ...]
    hardest: NDArray[np.bool_]
    arms: Mapping[str, ArmRuns]

    @property
    def tasks(self) -> tuple[str, ...]:
        """Task types, in the order of their first items."""
        return tuple(dict.fromkeys(item.task for item in self.items))

    def of(self, task: str) -> NDArray[np.bool_]:
        """Mark the items of a task type."""
        return np.array([item.task == task for item in self.items], dtype=np.bool_)

    @property
    def control(self) -> Floats:
        """Share of control runs among requests like each item."""
        return np.array([entry.control for entry in self.given], dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRecord(Record):
    """One item in one arm, with what the figures of this bench need beside."""

    mixture: str
    max_steps: int
    tokens: int
    hardness: float


def distinct_trials(arms: Mapping[str, Sequence[Setup]], count: int) -> int:
    """Return how many runs the arms need over ``count`` items; what is decided alike for an item is run once."""
    return sum(len({setups[place] for setups in arms.values()}) for place in range(count))


class RunsTrials(Protocol):
    """Answers trials."""

    def run(self, trials: Sequence[Trial]) -> list[Answer]:
        """Return the answers in the same order."""
        ...


class KeptRunner:
    """Runs the trials that a journal lacks, and notes them there: a look that was broken off goes on."""

    def __init__(self, runner: RunsTrials, journal: TuningJournal) -> None:
        self._runner = runner
        self._journal = journal

    def run(self, trials: Sequence[Trial]) -> list[Answer]:
        """Return the answers in the same order."""
        keys = [Key(item=trial.item.digest, label=label_of_setup(trial.setup)) for trial in trials]
        new = {key: trial for key, trial in zip(keys, trials, strict=True) if key not in self._journal}
        for key, answer in zip(new, self._runner.run(list(new.values())) if new else [], strict=True):
            self._journal.note(key, answer)
        return [self._journal[key] for key in keys]


def take_look(
    runner: RunsTrials,
    items: Sequence[Item],
    arms: Mapping[str, Sequence[Setup]],
    *,
    seed: int,
    done: Callable[[int], None],
) -> dict[str, ArmRuns]:
    """Answer test items in every arm; ``done`` is told how many more runs there are.

    An item's runs follow one another in random order, so that whatever disturbs the machine disturbs all arms alike.

    Raises:
        UnmaskError: an item is not of the test split, or the engine failed one.
    """
    foreign = next((item for item in items if split_of(item.canonical) is not Split.TEST), None)
    if foreign is not None:
        raise UnmaskError(
            f"item {foreign.digest} of {foreign.task} is not of the test split: it may have been tuned on"
        )
    answers: dict[tuple[int, Setup], Answer] = {}
    wave: list[tuple[int, Trial]] = []
    for place, item in enumerate(items):
        setups = list(dict.fromkeys(setups[place] for setups in arms.values()))
        Random(f"order/{seed}/{place}").shuffle(setups)
        wave += [(place, Trial(item=item, setup=setup)) for setup in setups]
        if len(wave) >= WAVE or place == len(items) - 1:
            found = runner.run([trial for _, trial in wave])
            answers |= {(at, trial.setup): answer for (at, trial), answer in zip(wave, found, strict=True)}
            done(len(wave))
            wave = []
    return {
        name: arm_runs(name, setups, [answers[place, setup] for place, setup in enumerate(setups)])
        for name, setups in arms.items()
    }


def label_of_setup(setup: Setup) -> str:
    """Name all that an arm decides of a request, exit rule included, in few characters."""
    return blake2b(repr(setup).encode(), digest_size=12).hexdigest()


def arm_runs(name: str, setups: Sequence[Setup], answers: Sequence[Answer]) -> ArmRuns:
    """Put an arm's answers into columns."""
    return ArmRuns(
        name=name,
        setups=tuple(setups),
        steps=np.array([answer.steps for answer in answers], dtype=np.float64),
        tokens=np.array([answer.tokens for answer in answers], dtype=np.float64),
        seconds=np.array([answer.seconds for answer in answers], dtype=np.float64),
        correct=np.array([answer.correct for answer in answers], dtype=np.float64),
    )


def look_records(look: Look) -> list[PolicyRecord]:
    """Return one record an item and arm."""
    return [
        PolicyRecord(
            item=item.digest,
            arm=arm.name,
            task=item.task,
            difficulty=str(item.difficulty),
            steps=int(arm.steps[place]),
            seconds=float(arm.seconds[place]),
            correct=bool(arm.correct[place]),
            mixture=look.mixture,
            max_steps=arm.setups[place].max_steps,
            tokens=int(arm.tokens[place]),
            hardness=look.given[place].hardness,
        )
        for arm in look.arms.values()
        for place, item in enumerate(look.items)
    ]
