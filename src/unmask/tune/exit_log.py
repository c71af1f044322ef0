"""The file of runs that exits are tuned on: a line of settings, then a line a run, so that a killed one goes on."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import orjson
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from unmask.tune.asking import Asking
from unmask.tune.errors import ExitFileError, ExitRunError
from unmask.tune.exit_runs import ExitRun, RunKey
from unmask.tune.line_file import go_on, read_lines

FORMAT: Literal["unmask.exit.runs/1"] = "unmask.exit.runs/1"


class _Header(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal["unmask.exit.runs/1"]
    model: str
    model_digest: str
    canvas_length: int


_RUN = TypeAdapter(ExitRun)


class ExitLog:
    """Runs in memory and in a file; what other weights or canvases did is refused.

    Raises:
        ExitFileError: the file is damaged, or its runs are of another model or canvas length.
        ExitRunError: it cannot be read or written.
    """

    def __init__(self, path: Path, asking: Asking, model_digest: str) -> None:
        self._path = path
        self._runs: dict[RunKey, ExitRun] = {}
        header = _Header(
            format=FORMAT, model=asking.model, model_digest=model_digest, canvas_length=asking.canvas_length
        )
        try:
            lines = read_lines(path)
            if lines.whole:
                self._read(lines.whole, header)
            with go_on(path, lines.size, header.model_dump()):
                # Opened to be cut or begun; what is noted comes later, a line at a time.
                pass
        except OSError as error:
            raise _unwritten(path, error) from error

    def __len__(self) -> int:
        return len(self._runs)

    def find(self, key: RunKey) -> ExitRun | None:
        """Return a run that was made."""
        return self._runs.get(key)

    def note(self, run: ExitRun) -> None:
        """Keep a run."""
        self._runs[run.key] = run
        try:
            with self._path.open("ab") as file:
                file.write(orjson.dumps(run) + b"\n")
        except OSError as error:
            raise _unwritten(self._path, error) from error

    def _read(self, lines: Sequence[bytes], header: _Header) -> None:
        try:
            found = _Header.model_validate_json(lines[0])
            runs = [_RUN.validate_json(line) for line in lines[1:]]
        except ValidationError as error:
            raise ExitFileError(f"{str(self._path)!r} is damaged: {error.errors()[0]['msg']}; remove it") from error
        if found != header:
            raise ExitFileError(
                f"{str(self._path)!r} holds runs of {found.model} {found.model_digest} with canvases of "
                f"{found.canvas_length}, and this is {header.model} {header.model_digest} with canvases of "
                f"{header.canvas_length}; name another --folder"
            )
        self._runs = {run.key: run for run in runs}


def _unwritten(path: Path, error: OSError) -> ExitRunError:
    return ExitRunError(f"{str(path)!r} cannot be used: {error.strerror or error}; name another --folder")
