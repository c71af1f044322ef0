"""Quality criteria: what counts as a failure of each task type, in words, and what answers it.

A format violation, a logical failure and a factual error call for different
things, so each criterion names its kind, who judges it and the response.
`load_criteria` reads those of the package; a task type without them, an unknown
key and a checker that does not exist are refused.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from types import MappingProxyType

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from unmask.errors import ConfigError
from unmask.tasks.failure import FailureKind
from unmask.tasks.registry import all_tasks

FILE = "criteria.yaml"


class Response(StrEnum):
    """What is done about a failure.

    ``reopen_span``: the broken span is denoised again. ``larger_budget``: another attempt with more steps.
    ``retrieve_again``: another attempt with facts fetched anew. ``hand_to_person``: nothing that a machine does helps.
    """

    REOPEN_SPAN = "reopen_span"
    LARGER_BUDGET = "larger_budget"
    RETRIEVE_AGAIN = "retrieve_again"
    HAND_TO_PERSON = "hand_to_person"


class Judged(StrEnum):
    """Who can tell whether an answer fails a criterion: a checker, or a person only."""

    AUTOMATIC = "automatic"
    HUMAN = "human"


RESPONSES: Mapping[FailureKind, frozenset[Response]] = MappingProxyType(
    {
        FailureKind.FORMAT: frozenset({Response.REOPEN_SPAN}),
        FailureKind.LOGIC: frozenset({Response.LARGER_BUDGET}),
        FailureKind.FACT: frozenset({Response.RETRIEVE_AGAIN, Response.HAND_TO_PERSON}),
    }
)
"""Which responses there are to each kind of failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One way in which an answer of a task type fails.

    Attributes:
        checker: ``TASK.check`` or ``TASK.verify``, whichever sees it; ``None`` where only a person does.
    """

    failure: FailureKind
    meaning: str
    checker: str | None
    response: Response

    @property
    def judged(self) -> Judged:
        """Who judges it."""
        return Judged.HUMAN if self.checker is None else Judged.AUTOMATIC


class _Entry(BaseModel):
    """A criterion as it stands in the file."""

    model_config = ConfigDict(extra="forbid")

    failure: FailureKind
    meaning: str
    judged: Judged
    checker: str | None = None
    response: Response


_FILE = TypeAdapter(dict[str, list[_Entry]])


JUDGES = ("check", "verify")
"""What a task type of the package has: a checker, which knows the truth, and a verifier, which does not."""


def checkers(tasks: Collection[str] | None = None, judges: Sequence[str] = JUDGES) -> tuple[str, ...]:
    """Return the names that a criterion may give as its checker; without ``tasks`` those of the package."""
    return tuple(f"{task}.{judge}" for task in (all_tasks() if tasks is None else tasks) for judge in judges)


def parse_criteria(
    text: str, *, tasks: Collection[str] | None = None, judges: Sequence[str] = JUDGES
) -> Mapping[str, tuple[Criterion, ...]]:
    """Read a criteria file: the criteria of every task type there is, at least one a kind of failure.

    Args:
        text: YAML.
        tasks: the task types; without them those of the package.
        judges: what a task type has that could be a criterion's checker.

    Raises:
        ConfigError: it is no YAML, has unknown keys or names, or lacks a task type or a kind of failure.
    """
    try:
        _check_unique(yaml.compose(text, yaml.SafeLoader))
        entries = _FILE.validate_python(yaml.safe_load(text))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ConfigError(f"quality criteria, {place}: {first['msg']}", param=place) from error
    except yaml.YAMLError as error:
        raise ConfigError(f"quality criteria are no YAML: {error}") from error
    known = tuple(all_tasks() if tasks is None else tasks)
    unknown = sorted(entries.keys() - set(known))
    if unknown:
        raise ConfigError(f"quality criteria of {unknown[0]!r}, allowed: {', '.join(known)}", param=unknown[0])
    allowed = checkers(known, judges)
    return MappingProxyType({task: _criteria(task, entries.get(task, []), allowed) for task in known})


@cache
def load_criteria() -> Mapping[str, tuple[Criterion, ...]]:
    """Return the package's criteria by task type."""
    return parse_criteria(files("unmask.tasks").joinpath(FILE).read_text(encoding="utf-8"))


def _check_unique(root: yaml.Node | None) -> None:
    """Refuse a task type that is there twice, of which YAML would keep the last and say nothing."""
    names = [name.value for name, _ in root.value] if isinstance(root, yaml.MappingNode) else []
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"quality criteria of {twice!r} are there twice; join them", param=str(twice))


def _criteria(task: str, entries: list[_Entry], allowed: Sequence[str]) -> tuple[Criterion, ...]:
    missing = [kind for kind in FailureKind if kind not in {entry.failure for entry in entries}]
    if missing:
        raise ConfigError(
            f"task type {task!r} has no quality criterion for {', '.join(missing)}; "
            "say in words what counts as such a failure",
            param=task,
        )
    return tuple(_criterion(task, entry, allowed) for entry in entries)


def _criterion(task: str, entry: _Entry, checkers_there: Sequence[str]) -> Criterion:
    if not entry.meaning.strip():
        raise ConfigError(f"a {entry.failure} criterion of {task!r} has no meaning; say it in words", param=task)
    if (entry.checker is None) is (entry.judged is Judged.AUTOMATIC):
        raise ConfigError(
            f"a {entry.failure} criterion of {task!r} is judged {entry.judged} with checker {entry.checker!r}; "
            "an automatic one names its checker, a human one has none",
            param=task,
        )
    if entry.checker is not None and entry.checker not in checkers_there:
        raise ConfigError(
            f"checker {entry.checker!r} of {task!r} does not exist, allowed: {', '.join(checkers_there)}", param=task
        )
    if entry.response not in RESPONSES[entry.failure]:
        allowed = ", ".join(sorted(RESPONSES[entry.failure]))
        raise ConfigError(
            f"response {entry.response} of {task!r} does not answer a {entry.failure} failure, allowed: {allowed}",
            param=task,
        )
    return Criterion(failure=entry.failure, meaning=entry.meaning, checker=entry.checker, response=entry.response)
