"""Quality criteria of a user's own task types: theirs, or a default that is named as one."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NoReturn

import yaml

from unmask.config.strict_yaml import dump_yaml, load_yaml
from unmask.errors import ConfigError
from unmask.tasks.criteria import Criterion, Response, parse_criteria
from unmask.tasks.failure import FailureKind
from unmask.tune.errors import CurveRunError
from unmask.tune.own.tasks import OwnTasks

CRITERIA = "criteria.yaml"
LARGEST_FILE = 1 << 20
"""Bytes."""
JUDGES = ("check",)
"""A task type of one's own has a checker, which knows what is right; while serving, requests bring their verifiers."""
_HEAD = """\
# What counts as a failure of each task type, in words; who judges it; and what answers it.
# `unmask policy propose` reads this file. Where it says DEFAULT below nobody has written criteria yet:
# put your own words there, or measure with --criteria FILE.
"""

OwnCriteria = Mapping[str, tuple[Criterion, ...]]


def default_criteria(task: str, *, has_form: bool) -> tuple[Criterion, ...]:
    """Return what counts as a failure where nobody has said it.

    Args:
        task: the task type.
        has_form: whether its items are checked against a pattern or schema.
    """
    checker = f"{task}.check"
    form = "not of the form that the item's pattern or schema asks for" if has_form else "broken off, or unreadable"
    return (
        Criterion(
            failure=FailureKind.FORMAT,
            meaning=form,
            checker=checker if has_form else None,
            response=Response.REOPEN_SPAN,
        ),
        Criterion(
            failure=FailureKind.LOGIC,
            meaning="not an answer that the item's check calls right",
            checker=checker,
            response=Response.LARGER_BUDGET,
        ),
        Criterion(
            failure=FailureKind.FACT,
            meaning="states what is not so, though the item's check passes it",
            checker=None,
            response=Response.HAND_TO_PERSON,
        ),
    )


def is_default(task: str, criteria: tuple[Criterion, ...]) -> bool:
    """Tell whether criteria are what is there where nobody has written any."""
    return any(criteria == default_criteria(task, has_form=has_form) for has_form in (False, True))


def criteria_of(tasks: OwnTasks) -> OwnCriteria:
    """Return the default criteria of every task type of a file."""
    return {task: default_criteria(task, has_form=tasks.has_form(task)) for task in tasks.items}


def read_criteria(path: Path, tasks: Collection[str]) -> OwnCriteria:
    """Read the criteria of task types, which all have to be there.

    Raises:
        ConfigError: the file cannot be read, is malformed, or lacks a task type or a kind of failure.
    """
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        _refuse(path, f"cannot be read: {error.strerror or error}")
    if len(content) > LARGEST_FILE:
        _refuse(path, f"is too large, allowed: up to {LARGEST_FILE} bytes")
    try:
        text = content.decode()
        load_yaml(text)
        return parse_criteria(text, tasks=tuple(tasks), judges=JUDGES)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        _refuse(path, f"is no YAML that is read here: {error}")
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.message}", param=error.param) from error


def write_criteria(folder: Path, criteria: OwnCriteria) -> Path:
    """Keep criteria beside what is measured, default ones marked.

    Raises:
        CurveRunError: they cannot be written.
    """
    path = folder / CRITERIA
    marked = (
        f"{'# DEFAULT' if is_default(task, found) else '# as given'}\n{dump_yaml({task: _raw(found)})}"
        for task, found in criteria.items()
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(_HEAD + "".join(marked), encoding="utf-8")
    except OSError as error:
        raise CurveRunError(f"cannot write {str(path)!r}: {error}; free some space") from error
    return path


def _raw(criteria: tuple[Criterion, ...]) -> list[dict[str, str]]:
    return [
        {
            "failure": entry.failure.value,
            "meaning": entry.meaning,
            "judged": entry.judged.value,
            **({} if entry.checker is None else {"checker": entry.checker}),
            "response": entry.response.value,
        }
        for entry in criteria
    ]


def _refuse(path: Path, reason: str) -> NoReturn:
    raise ConfigError(f"the quality criteria {path} {reason}")
