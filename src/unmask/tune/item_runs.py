"""What an estimator is tuned on: items of one split, each run at every budget of a grid.

A file is JSON lines: first a header with the model and the names of the features,
then one line for each item and budget. An item's split follows from its digest, so
a file is never taken for another split than the one it was drawn from.
"""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from unmask.control.features import FEATURES, Features, features_of
from unmask.errors import UnmaskError
from unmask.tasks.item import Item, Split, split_of_digest

_Line = TypeVar("_Line", bound=BaseModel)


class RunsError(UnmaskError):
    """Runs of items cannot be read or do not fit what they are for."""


class SplitError(RunsError):
    """Runs hold items of a split that they must not hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRecord:
    """One run of one item.

    Attributes:
        item: digest of the item.
        budget: most denoise steps a canvas of this run.
        correct: whether the checker passed the answer.
        steps: denoise steps taken in all.
    """

    item: str
    features: Features
    budget: int
    correct: bool
    steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How an item ended at one budget."""

    budget: int
    correct: bool
    steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRuns:
    """An item with its runs, the smallest budget first."""

    item: str
    features: Features
    runs: tuple[Run, ...]

    @property
    def task(self) -> str:
        """Its task type."""
        return self.features.task

    @property
    def budgets(self) -> tuple[int, ...]:
        """Budgets it was run at, ascending."""
        return tuple(run.budget for run in self.runs)

    def at(self, budget: int) -> Run:
        """Return the run at a budget; a budget it was not run at is a ``KeyError``."""
        return {run.budget: run for run in self.runs}[budget]

    def sufficient(self, ceiling: int) -> int | None:
        """Return the smallest budget that is right, as are all larger ones up to the ceiling; nothing if that fails."""
        within = [run for run in self.runs if run.budget <= ceiling]
        right = list(itertools.takewhile(lambda run: run.correct, reversed(within)))
        return right[-1].budget if right else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSet:
    """Items of one split, run on one model."""

    model: str
    model_digest: str
    split: Split
    items: tuple[ItemRuns, ...]

    def of(self, task: str) -> tuple[ItemRuns, ...]:
        """Return the items of a task type."""
        return tuple(item for item in self.items if item.task == task)

    @property
    def tasks(self) -> tuple[str, ...]:
        """Task types, in the order of their first items."""
        return tuple(dict.fromkeys(item.task for item in self.items))


def item_features(item: Item, *, prompt_tokens: int, max_tokens: int) -> Features:
    """Return the features of a generated item, which asks for free text."""
    return features_of(item.messages, item.task, prompt_tokens=prompt_tokens, max_tokens=max_tokens)


def collect(records: Iterable[ItemRecord], split: Split, *, model: str, model_digest: str) -> RunSet:
    """Group records by item.

    Raises:
        SplitError: an item is of another split.
        RunsError: there are no records, an item has a budget twice or other features in one run than in another, or
            items of a task type were run at different budgets.
    """
    by_item: dict[str, list[ItemRecord]] = {}
    for record in records:
        by_item.setdefault(record.item, []).append(record)
    items = tuple(_grouped(found) for found in by_item.values())
    if not items:
        raise RunsError("There are no runs. Draw and run items first.")
    grids: dict[str, ItemRuns] = {}
    for item in items:
        drawn = split_of_digest(item.item)
        if drawn is not split:
            raise SplitError(
                f"Item {item.item} is of the split {drawn}, allowed: {split} alone. Keep splits in files of their own."
            )
        first = grids.setdefault(item.task, item)
        if item.budgets != first.budgets:
            raise RunsError(
                f"Item {item.item} was run at the budgets {_listed(item.budgets)}, allowed: those of the other items "
                f"of {item.task}, {_listed(first.budgets)}. Let the run go on to its end."
            )
    return RunSet(model=model, model_digest=model_digest, split=split, items=items)


def _grouped(records: list[ItemRecord]) -> ItemRuns:
    first = records[0]
    if any(record.features != first.features for record in records):
        raise RunsError(f"Item {first.item} has different features in different runs. Draw and run it again.")
    runs = sorted((Run(budget=r.budget, correct=r.correct, steps=r.steps) for r in records), key=lambda run: run.budget)
    if any(one.budget == other.budget for one, other in itertools.pairwise(runs)):
        raise RunsError(f"Item {first.item} has two runs at one budget. Keep one of them.")
    return ItemRuns(item=first.item, features=first.features, runs=tuple(runs))


def _listed(budgets: tuple[int, ...]) -> str:
    return ", ".join(map(str, budgets))


# --- the file ----------------------------------------------------------------


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Header(_Strict):
    format: Literal["unmask-item-runs"]
    version: Literal[1]
    model: str
    model_digest: str
    features: list[str]


class _Record(_Strict):
    item: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    task: str
    budget: Annotated[int, Field(ge=1)]
    correct: bool
    steps: Annotated[int, Field(ge=0)]
    features: Annotated[
        list[Annotated[float, Field(allow_inf_nan=False)]], Field(min_length=len(FEATURES), max_length=len(FEATURES))
    ]


def write_runs(path: Path, records: Iterable[ItemRecord], *, model: str, model_digest: str) -> None:
    """Write records as a file that `read_runs` reads."""
    header = _Header(
        format="unmask-item-runs", version=1, model=model, model_digest=model_digest, features=list(FEATURES)
    )
    with path.open("w", encoding="utf-8") as file:
        file.write(f"{header.model_dump_json()}\n")
        for record in records:
            line = _Record(
                item=record.item,
                task=record.features.task,
                budget=record.budget,
                correct=record.correct,
                steps=record.steps,
                features=list(record.features.values),
            )
            file.write(f"{line.model_dump_json()}\n")


def read_runs(path: Path, split: Split) -> RunSet:
    """Read a file of runs whose items are all of one split.

    Raises:
        SplitError: an item is of another split.
        RunsError: the file is missing, damaged, of another version, or its runs do not fit together.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RunsError(f"{path} cannot be read: {error}.") from error
    if not lines:
        raise RunsError(f"{path} is empty. Draw and run items first.")
    header = _parsed(_Header, path, 1, lines[0])
    if header.features != list(FEATURES):
        raise RunsError(f"{path} holds other features than these: {', '.join(FEATURES)}. Draw and run its items again.")
    return collect(_records(path, lines[1:]), split, model=header.model, model_digest=header.model_digest)


def _records(path: Path, lines: list[str]) -> Iterator[ItemRecord]:
    for number, line in enumerate(lines, start=2):
        record = _parsed(_Record, path, number, line)
        yield ItemRecord(
            item=record.item,
            features=Features(task=record.task, values=tuple(record.features)),
            budget=record.budget,
            correct=record.correct,
            steps=record.steps,
        )


def _parsed(kind: type[_Line], path: Path, number: int, line: str) -> _Line:
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise RunsError(
            f"{path}, line {number}: {place}: {first['msg']}. Where a run was cut short, let it go on to its end."
        ) from error
