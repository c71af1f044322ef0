"""Reads a tasks file: one JSON object a line, every fault named with file and line."""

import hashlib
import json
from pathlib import Path
from typing import ClassVar

import orjson
from pydantic import ValidationError

from unmask.errors import ConfigError, shown
from unmask.tune.own.schema import ItemDocument
from unmask.tune.own.tasks import OwnItem, OwnTasks, own_item

LARGEST_FILE = 1 << 26
"""Bytes."""
MOST_FAULTS = 20
"""Faults that are named; of more, how many there are."""


class TasksFileError(ConfigError):
    """A tasks file cannot be read, or lines of it are no items."""

    is_list: ClassVar[bool] = True


class _LineError(Exception):
    """What is wrong with a line."""


def read_tasks(path: Path) -> OwnTasks:
    """Read a tasks file.

    Raises:
        TasksFileError: it cannot be read, is empty, or has lines that are no items; each is named.
    """
    content = _content(path)
    reader = _Reader(path)
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").splitlines(), start=1):
        if line.strip():
            reader.read(number, line)
    if reader.faults:
        more = len(reader.faults) - MOST_FAULTS
        told = [*reader.faults[:MOST_FAULTS], *([f"{path}: {more} more lines are no items"] if more > 0 else [])]
        raise TasksFileError("\n".join(told))
    if not reader.items:
        raise TasksFileError(f"{path} is empty, allowed: one item a line, a JSON object of id, task, prompt and check")
    return OwnTasks(digest=hashlib.sha256(content).hexdigest()[:16], items=reader.items)


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise TasksFileError(f"{path} cannot be read: {error.strerror or error}") from error
    if len(content) > LARGEST_FILE:
        raise TasksFileError(f"{path} is larger than a tasks file may be, allowed: up to {LARGEST_FILE} bytes")
    return content


class _Reader:
    """What was read so far: items by task type and digest, and the faults of lines."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines: dict[str, int] = {}
        self._axes: dict[str, tuple[str, ...]] = {}
        self.items: dict[str, dict[str, OwnItem]] = {}
        self.faults: list[str] = []

    def read(self, number: int, line: bytes) -> None:
        """Take a line in, or note what is wrong with it."""
        try:
            self._add(number, _item(line))
        except _LineError as fault:
            self.faults.append(f"{self._path}:{number}: {fault}")

    def _add(self, number: int, entry: OwnItem) -> None:
        before = self._lines.setdefault(entry.id, number)
        if before != number:
            raise _LineError(
                f"id is {shown(entry.id)}, which line {before} has, allowed: an id of its own for each item"
            )
        task, digest = entry.item.task, entry.item.digest
        same = self.items.setdefault(task, {}).setdefault(digest, entry)
        if same is not entry:
            raise _LineError(
                f"it asks what line {self._lines[same.id]} asks, allowed: each question of a task type once; "
                "write other right answers as alternatives"
            )
        axes = tuple(axis for axis, _ in entry.item.difficulty.axes)
        known = self._axes.setdefault(task, axes)
        if known != axes:
            raise _LineError(
                f"difficulty has {', '.join(axes) or 'nothing'}, allowed: {', '.join(known) or 'nothing'}, as the "
                f"first item of {task} has it"
            )


def _item(line: bytes) -> OwnItem:
    try:
        document = ItemDocument.model_validate(_object(line))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        reason = first["msg"].removeprefix("Value error, ")
        raise _LineError(f"{place or 'the item'}: {reason}") from error
    return own_item(document.id, document.task, document.chat(), tuple(document.check.checks()), document.axes())


def _object(line: bytes) -> object:
    """Read one JSON value; names given twice are refused, of which a reader would keep the last and say nothing."""
    try:
        # First, as it refuses what is no Unicode, no JSON number, or nested without end.
        orjson.loads(line)
        return json.loads(line, object_pairs_hook=_unique)
    except ValueError as error:
        raise _LineError(f"it is no JSON object: {error}") from error


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _LineError(f"{shown(next(name for name in names if names.count(name) > 1))} is there twice")
    return found
