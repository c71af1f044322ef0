"""A curve run from its folder: begun or gone on with, measured to its end, kept."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from unmask.backend import Backend
from unmask.tasks.item import Item
from unmask.tune.curve import CurveSet, curve_from
from unmask.tune.curve_file import write_curves
from unmask.tune.errors import CurveFileError, ResumeError
from unmask.tune.items import PACKAGED, ItemSource
from unmask.tune.journal import Journal, check_resumable, read_journal, write_journal
from unmask.tune.origin import Origin
from unmask.tune.record import CurveRecord
from unmask.tune.settings import CurveSettings
from unmask.tune.sweep import sweep

JOURNAL = "journal.jsonl"
CURVES = "curves.json"

Progress = Callable[[int, int], None]
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveRun:
    """A run about to measure what its folder lacks."""

    settings: CurveSettings
    origin: Origin
    folder: Path
    items: dict[str, tuple[Item, ...]]
    journal: Journal | None
    source: ItemSource

    @property
    def total(self) -> int:
        """Measurements of the whole run."""
        return sum(map(len, self.items.values())) * len(self.settings.grid)

    async def measure(self, backend: Backend, progress: Progress) -> CurveSet:
        """Measure what is missing, and keep curves beside the journal; ``progress`` is told what is done, and of what.

        Raises:
            CurveRunError: the backend failed a request, or the folder cannot be written.
        """
        records = list(self.journal.records) if self.journal else []
        origin = self.journal.origin if self.journal else self.origin
        progress(len(records), self.total)
        with write_journal(self.folder / JOURNAL, self.journal, self.settings, origin) as pen:

            def note(record: CurveRecord) -> None:
                pen.note(record)
                records.append(record)
                progress(len(records), self.total)

            await sweep(backend, self.settings, self.items, {record.key for record in records}, note, self.source.check)
        curves = CurveSet(
            settings=self.settings,
            origin=origin,
            curves=tuple(
                curve_from(task, self.settings.grid, records, [item.digest for item in self.items[task]])
                for task in self.settings.tasks
            ),
        )
        write_curves(self.folder / CURVES, curves)
        return curves


def open_run(
    settings: CurveSettings,
    origin: Origin,
    folder: Path,
    *,
    resume: bool,
    say: Say,
    source: ItemSource = PACKAGED,
) -> CurveRun:
    """Draw the items from their source and look at what the folder holds; says what it finds there.

    Raises:
        ResumeError: the folder holds a run that is not to go on, or that measures something else.
        CurveFileError: its journal is damaged.
        InvalidRequestError: a task type has not so many items.
    """
    journal = read_journal(folder / JOURNAL)
    if journal is not None and not resume:
        raise ResumeError(
            f"{str(folder)!r} holds a run already; add --resume to go on with it, or name another --folder"
        )
    items = {task: source.draw(task, settings.items, settings.seed, settings.split) for task in settings.tasks}
    run = CurveRun(settings=settings, origin=origin, folder=folder, items=items, journal=journal, source=source)
    if journal is not None:
        check_resumable(journal, settings, origin)
        _check_items(journal, run)
        if journal.torn:
            say("the journal ends in half a line, as a killed run leaves it; that measurement is made again")
        say(f"going on after {len(journal.records)} of {run.total} measurements")
    elif resume:
        say("nothing was measured there yet; beginning anew")
    return run


def _check_items(journal: Journal, run: CurveRun) -> None:
    wanted = {(task, item.digest) for task, items in run.items.items() for item in items}
    for record in journal.records:
        if (record.task, record.item) not in wanted or record.budget not in run.settings.grid:
            raise CurveFileError(
                f"the journal in {str(run.folder)!r} measures {record.key}, which is not of this run; "
                "name another --folder"
            )
