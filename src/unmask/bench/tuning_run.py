"""Answers tuning items in every way that is compared, as far as a journal does not have the answers yet."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.bench.trial import Setup, Trial, TrialRunner
from unmask.bench.tuning_journal import Key, TuningJournal
from unmask.errors import UnmaskError
from unmask.tasks.item import Item, Split, split_of

WAVE = 192
"""Trials that are run in one go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A way of answering, in words that name all of it, and what it is for each item that it is for."""

    label: str
    setups: Mapping[str, Setup]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tuned:
    """One way's answers to the items of one task type, in the order of the items."""

    correct: NDArray[np.bool_]
    steps: NDArray[np.float64]


def uniform(label: str, setup: Setup, items: Sequence[Item]) -> Way:
    """Return a way that answers all items alike."""
    return Way(label=label, setups={item.digest: setup for item in items})


def missing(journal: TuningJournal, items: Sequence[Item], ways: Sequence[Way]) -> int:
    """Return how many answers the journal lacks."""
    return sum(
        item.digest in way.setups and Key(item=item.digest, label=way.label) not in journal
        for item in items
        for way in ways
    )


def measure_ways(
    runner: TrialRunner,
    journal: TuningJournal,
    items: Sequence[Item],
    ways: Sequence[Way],
    done: Callable[[int], None],
) -> None:
    """Answer what the journal lacks, item by item, and note it; ``done`` is told how many more there are.

    Raises:
        UnmaskError: an item is not of the tuning split, or the engine failed one.
    """
    foreign = next((item for item in items if split_of(item.canonical) is not Split.TUNE), None)
    if foreign is not None:
        raise UnmaskError(f"item {foreign.digest} of {foreign.task} is not of the tuning split: nothing is tuned on it")
    jobs = (
        (Key(item=item.digest, label=way.label), Trial(item=item, setup=way.setups[item.digest]))
        for item in items
        for way in ways
        if item.digest in way.setups and Key(item=item.digest, label=way.label) not in journal
    )
    while wave := list(itertools.islice(jobs, WAVE)):
        answers = runner.run([trial for _, trial in wave])
        for (key, _), answer in zip(wave, answers, strict=True):
            journal.note(key, answer)
        done(len(wave))


def tuned(journal: TuningJournal, items: Sequence[Item], label: str) -> Tuned:
    """Return a way's answers to items, all of which the journal has."""
    answers = [journal[Key(item=item.digest, label=label)] for item in items]
    return Tuned(
        correct=np.array([answer.correct for answer in answers], dtype=np.bool_),
        steps=np.array([answer.steps for answer in answers], dtype=np.float64),
    )
