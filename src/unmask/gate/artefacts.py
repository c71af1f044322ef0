"""A gate run's folder: what it is of, its answers, and later its scores; on a disk or in an object store.

``run.json`` is the `Binding`. ``responses.jsonl``, or parts of it under ``responses.parts/`` where a file cannot be
appended to, holds a line an answer. ``scores.jsonl`` holds a line a scored answer and is written as a whole: scores can
be made again from answers at any time, answers cannot.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import TypeVar

from unmask.errors import shown
from unmask.gate.codec import binding_text, read_binding, read_response, read_scored, response_line, scored_line
from unmask.gate.errors import ForeignRunError, RunFolderError
from unmask.gate.line_store import LineStore
from unmask.gate.response import Binding, Response, ResponseKey, System
from unmask.gate.score import Scored
from unmask.policy.disk import Disk

RUN = "run.json"
RESPONSES = "responses.jsonl"
SCORES = "scores.jsonl"
LOCK = ".lock"
WHENEVER = frozenset({"run", "started"})
"""What differs between two runs of the same questions, asked in the same way."""

_Record = TypeVar("_Record")


class RunFolder:
    """The artefacts of one run.

    Args:
        url: a folder on disk, or any that fsspec opens, such as ``s3://bucket/run``.
        disk: writes what is on disk.
    """

    def __init__(self, url: str, disk: Disk | None = None) -> None:
        self._store = LineStore(url, disk)

    @property
    def url(self) -> str:
        """Where it is."""
        return self._store.url

    def binding(self) -> Binding | None:
        """Return what the folder holds a run of; nothing where it holds none.

        Raises:
            RunFolderError: it cannot be read or is damaged; so for every method here.
        """
        text = self._store.read_text(RUN)
        if text is None:
            return None
        try:
            return read_binding(text)
        except RunFolderError as error:
            raise RunFolderError(f"{self.url}/{RUN} is {error.message}") from error

    def begin(self, binding: Binding) -> Binding:
        """Make the folder one of this run, or make sure that it is one already; return what it says it holds.

        When a run was begun does not matter: what is gone on with keeps the name and time that it began under.

        Raises:
            ForeignRunError: it holds another run; names both and what differs.
        """
        held = self.binding()
        if held is None:
            if self._store.lines(RESPONSES):
                raise RunFolderError(f"{self.url} holds answers and no {RUN}: name another folder")
            self._store.write_text(RUN, binding_text(binding))
            return binding
        differing = _differences(held, binding)
        if differing:
            raise ForeignRunError(
                f"{self.url} holds run {held.run} and this is {binding.run}: it has {'; '.join(differing)}. Their "
                "answers must not be mixed; name another folder"
            )
        return held

    def responses(self) -> tuple[Response, ...]:
        """Return an answer for every key asked, in the order they were finished.

        A fault gives way to an answer, and to a later fault; what is there twice alike, as a copied folder may have
        it, counts once.
        """
        found: dict[ResponseKey, Response] = {}
        for number, response in self._records(RESPONSES, read_response):
            earlier = found.get(response.key)
            if earlier is not None and earlier.fault is None:
                if response.fault is not None or response == earlier:
                    continue
                raise RunFolderError(
                    f"line {number} of {self.url}/{RESPONSES} answers {_words(response.key)} again, otherwise"
                )
            found[response.key] = response
        return tuple(found.values())

    def append_responses(self, responses: Iterable[Response]) -> None:
        """Add answers; once this returns, they outlive the process."""
        self._store.append(RESPONSES, map(response_line, responses))

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Ask as the only one: two processes at one run would ask everything twice.

        Raises:
            RunFolderError: another process of this machine is at it.
        """
        with self._store.alone(LOCK):
            yield

    def scores(self) -> tuple[Scored, ...]:
        """Return the scored answers in the order they were written; none where nothing was scored."""
        return tuple(scored for _, scored in self._records(SCORES, read_scored))

    def write_scores(self, scores: Iterable[Scored]) -> None:
        """Write all scores in place of those that are there."""
        self._store.write_text(SCORES, b"".join(map(scored_line, scores)).decode())

    def read_text(self, name: str) -> str | None:
        """Return another file of the folder, or nothing where there is none."""
        return self._store.read_text(name)

    def write_text(self, name: str, text: str) -> None:
        """Write another file of the folder as a whole."""
        self._store.write_text(name, text)

    def lines(self, name: str) -> tuple[bytes, ...]:
        """Return the lines of another line file of the folder, such as corrections; half a line at its end is none."""
        return self._store.lines(name)

    def append_lines(self, name: str, lines: Iterable[bytes]) -> None:
        """Add lines, each with its end, to another line file; what is there is never changed."""
        self._store.append(name, lines)

    def _records(self, name: str, read: Callable[[bytes], _Record]) -> list[tuple[int, _Record]]:
        records: list[tuple[int, _Record]] = []
        for number, line in enumerate(self._store.lines(name), start=1):
            try:
                records.append((number, read(line)))
            except RunFolderError as error:
                raise RunFolderError(f"line {number} of {self.url}/{name} is {error.message}") from error
        return records


def _differences(held: Binding, wanted: Binding) -> list[str]:
    """Say in what two runs differ; of two systems by field, as all of one is too long to see it."""
    found = [
        f"{field.name} {_plain(getattr(held, field.name))}, not {_plain(getattr(wanted, field.name))}"
        for field in fields(Binding)
        if field.name not in {*WHENEVER, "systems"} and getattr(held, field.name) != getattr(wanted, field.name)
    ]
    labels = [[system.label.value for system in binding.systems] for binding in (held, wanted)]
    if labels[0] != labels[1]:
        return [*found, f"systems {', '.join(labels[0])}, not {', '.join(labels[1])}"]
    for before, after in zip(held.systems, wanted.systems, strict=True):
        for name in (field.name for field in fields(System)):
            old, new = getattr(before, name), getattr(after, name)
            if old != new:
                found.append(f"{name} of {before.label} {_plain(old)}, not {_plain(new)}")
    return found


def _plain(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value)) if all(isinstance(one, str) for one in value) else shown(value)
    return str(value)


def _words(key: ResponseKey) -> str:
    return f"{key.scenario} (seed {key.seed}, {key.system})"
