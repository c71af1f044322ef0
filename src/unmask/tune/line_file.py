"""Files of JSON lines: a killed run may leave half a line at the end; the next goes on behind the last whole one."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import orjson


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """What a file holds.

    Attributes:
        whole: its whole lines, the header first; none where there is no file.
        size: bytes up to the end of the last of them.
        torn: whether half a line follows.
    """

    whole: tuple[bytes, ...] = ()
    size: int = 0
    torn: bool = False


def read_lines(path: Path) -> Lines:
    """Read a file; one that is not there has no lines.

    Raises:
        OSError: it is there and cannot be read.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Lines()
    size = data.rfind(b"\n") + 1
    return Lines(whole=tuple(data[:size].splitlines()), size=size, torn=size < len(data))


@contextmanager
def go_on(path: Path, size: int, header: object) -> Iterator["Pen"]:
    """Open a file behind its whole lines, cutting off what follows, or begin it with its header where there are none.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("r+b" if path.exists() else "w+b", buffering=0) as file:
        file.truncate(size)
        file.seek(size)
        pen = Pen(file)
        if not size:
            pen.note(header)
        yield pen


class Pen:
    """Appends to a file, each line in one write that outlives the process."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def note(self, record: object) -> None:
        """Append a value that orjson can write."""
        self._file.write(orjson.dumps(record) + b"\n")
