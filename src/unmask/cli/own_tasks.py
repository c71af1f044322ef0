"""Task types of a user's own, as commands take and tell them."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from unmask.cli.exits import UsageError
from unmask.cli.tools import Tools
from unmask.tasks.item import Split
from unmask.tune.curve import CurveSet
from unmask.tune.own.criteria import (
    CRITERIA,
    OwnCriteria,
    criteria_of,
    is_default,
    read_criteria,
    write_criteria,
)
from unmask.tune.own.file import read_tasks
from unmask.tune.own.tasks import NoItemsError, OwnTasks
from unmask.tune.propose import Source
from unmask.tune.settings import ITEMS


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """A tasks file, and the criteria given with it; ``None`` where none were."""

    tasks: OwnTasks
    criteria: OwnCriteria | None

    def chosen(self, asked: tuple[str, ...], split: Split, most: int, tools: Tools) -> tuple[str, ...]:
        """Return the task types that have items of a split, and say how many; of those asked for if any are.

        Raises:
            NoItemsError: none has.
            UsageError: one that is asked for is not in the file.
        """
        known = self.tasks.items
        unknown = [task for task in asked if task not in known]
        if unknown:
            raise UsageError(f"--task names {', '.join(unknown)}, allowed: {', '.join(known)}, which the file has.")
        counts = self.tasks.counts(split)
        wanted = tuple(task for task in known if not asked or task in asked)
        for task in wanted:
            measured = min(counts[task], most)
            few = f", fewer than {ITEMS:,}: intervals are wider" if measured < ITEMS else ""
            tools.say(f"{task}: {measured} items of {len(known[task])} in the file, split {split}{few}")
        found = tuple(task for task in wanted if counts[task])
        if not found:
            raise NoItemsError(
                f"not enough data: no item of {', '.join(wanted)} belongs to the split {split}; bring more items"
            )
        return found


def own_of(args: argparse.Namespace) -> Own | None:
    """Read the tasks file and the criteria that a command names; nothing where it names none.

    Raises:
        UsageError: there are criteria and no tasks, or exits of other task types.
        ConfigError: one of the files cannot be read or is malformed.
    """
    if args.tasks is None:
        if args.criteria is not None:
            raise UsageError("--criteria says what counts as a failure of your own task types; add --tasks FILE")
        return None
    if args.exits is not None:
        raise UsageError("--exits are of task types of the package; leave it out with --tasks")
    tasks = read_tasks(args.tasks)
    return Own(tasks=tasks, criteria=None if args.criteria is None else read_criteria(args.criteria, tasks.items))


def keep_criteria(own: Own, folder: Path, tools: Tools) -> None:
    """Keep criteria beside curves: those given, else those there already, else default ones, and say which."""
    path = folder / CRITERIA
    if own.criteria is None and path.exists():
        return
    criteria = own.criteria or criteria_of(own.tasks)
    write_criteria(folder, criteria)
    unsaid = [task for task, found in criteria.items() if is_default(task, found)]
    if unsaid:
        tools.say(f"{path}: the quality criteria of {', '.join(unsaid)} are a default; write down your own there")


def criteria_sources(curves: CurveSet, folder: Path) -> tuple[Source, ...]:
    """Return what a proposal says of the criteria of a user's own task types; nothing of those of the package.

    Raises:
        ConfigError: there are none, or they lack a task type or a kind of failure.
    """
    file = curves.settings.tasks_file
    if file is None:
        return ()
    path = folder / CRITERIA
    criteria = read_criteria(path, file.items)
    return tuple(
        Source(
            place=f"{task}.criteria",
            value="default" if is_default(task, criteria[task]) else "given",
            source=f"{path}, {len(criteria[task])} quality criteria; {file.items[task]} items in the tasks file",
        )
        for task in curves.settings.tasks
    )
