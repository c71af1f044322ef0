"""Files of lines in a folder of any kind, each line there as a whole or not at all, whenever the writer is killed.

On a disk a line is appended to a file; a writer that is killed leaves at most half a line, which readers pass over and
the next writer cuts off. An object store cannot append, but puts an object there as a whole or not at all: each append
is an object of its own. Readers take both, so that a folder may be copied from one to the other.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from filelock import FileLock, Timeout
from fsspec.implementations.local import LocalFileSystem

from unmask.gate.errors import RunFolderError
from unmask.gate.object_store import one_line, opened, store_faults
from unmask.policy.disk import Disk, SystemDisk, append, cut, put
from unmask.policy.errors import PolicyStoreError

LINES = ".jsonl"


class LineStore:
    """A folder of texts and of line files.

    Args:
        url: a folder on disk, or whatever fsspec knows, such as ``s3://bucket/run``. Credentials come from where
            fsspec's own file systems have them, the environment first.
        disk: writes what is on disk.
    """

    def __init__(self, url: str, disk: Disk | None = None) -> None:
        self._disk = disk or SystemDisk()
        self.url = url.rstrip("/") or url
        self._files, self._root = opened(url)
        self._faults = store_faults(self._files)
        self._write_faults: tuple[type[Exception], ...] = (*self._faults, PolicyStoreError)
        self._parts: dict[str, int] = {}

    def read_text(self, name: str) -> str | None:
        """Return a whole file, or nothing where there is none."""
        data = self._read(f"{self._root}/{name}")
        try:
            return None if data is None else data.decode()
        except UnicodeDecodeError as error:
            raise RunFolderError(f"{self.url}/{name} is no text in UTF-8, byte {error.start}") from error

    def write_text(self, name: str, text: str) -> None:
        """Write a whole file: whoever reads it meanwhile has the old one or the new one."""
        path = f"{self._root}/{name}"
        try:
            if isinstance(self._files, LocalFileSystem):
                put(self._disk, Path(path), text.encode())
            else:
                self._files.pipe_file(path, text.encode())
        except self._write_faults as error:
            raise self._cannot("write", name, error) from error

    def lines(self, name: str) -> tuple[bytes, ...]:
        """Return the whole lines of a line file in the order they were appended; none where there is none."""
        whole = self._read(f"{self._root}/{name}") or b""
        found = list(whole[: whole.rfind(b"\n") + 1].splitlines())
        parts = self._part_paths(name)
        try:
            # At once, many at a time: a run in an object store has thousands.
            contents = self._files.cat(parts) if parts else {}
        except self._faults as error:
            raise self._cannot("read", name, error) from error
        for part in parts:
            found += contents[part].splitlines()
        return tuple(found)

    def append(self, name: str, lines: Iterable[bytes]) -> None:
        """Append lines, each with its end, to a line file; they outlive the process once this returns."""
        data = b"".join(lines)
        if not data:
            return
        try:
            if isinstance(self._files, LocalFileSystem):
                path = Path(self._root) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                _cut_half_line(self._disk, path)
                append(self._disk, path, data)
            else:
                self._put_part(name, data)
        except self._write_faults as error:
            raise self._cannot("write", name, error) from error

    @contextmanager
    def alone(self, lock: str) -> Iterator[None]:
        """Keep other processes of this machine out; an object store has no way to.

        Raises:
            RunFolderError: another process is in.
        """
        if not isinstance(self._files, LocalFileSystem):
            yield
            return
        path = Path(self._root) / lock
        held = FileLock(path, timeout=0)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            held.acquire()
        except Timeout as error:
            raise RunFolderError(f"another process writes to {self.url}; wait until it is done, or end it") from error
        except OSError as error:
            raise self._cannot("write", lock, error) from error
        try:
            yield
        finally:
            held.release()

    def _put_part(self, name: str, data: bytes) -> None:
        if name not in self._parts:
            numbers = [int(path.rsplit("/", 1)[1].split("-")[0]) for path in self._part_paths(name)]
            self._parts[name] = max(numbers, default=0)
        self._parts[name] += 1
        # The digest keeps two writers from putting one part over the other's.
        part = f"{self._parts[name]:08d}-{sha256(data).hexdigest()[:12]}{LINES}"
        self._files.pipe_file(f"{self._part_folder(name)}/{part}", data)

    def _part_folder(self, name: str) -> str:
        return f"{self._root}/{name.removesuffix(LINES)}.parts"

    def _part_paths(self, name: str) -> list[str]:
        folder = self._part_folder(name)
        try:
            self._files.invalidate_cache()
            found = [str(path) for path in self._files.find(folder)]
        except FileNotFoundError:
            return []
        except self._faults as error:
            raise self._cannot("read", name, error) from error
        return sorted(path for path in found if path.endswith(LINES))

    def _read(self, path: str) -> bytes | None:
        try:
            return bytes(self._files.cat_file(path))
        except (FileNotFoundError, IsADirectoryError):
            return None
        except self._faults as error:
            raise self._cannot("read", path.rsplit("/", 1)[1], error) from error

    def _cannot(self, verb: str, name: str, error: Exception) -> RunFolderError:
        return RunFolderError(f"cannot {verb} {self.url}/{name}: {one_line(error)}")


def _cut_half_line(disk: Disk, path: Path) -> None:
    """Cut off what follows the last whole line: nearly always nothing, as the last byte tells."""
    if not path.exists():
        return
    size = path.stat().st_size
    with path.open("rb") as file:
        if not size or file.seek(size - 1) < 0 or file.read(1) == b"\n":
            return
        file.seek(0)
        end = file.read().rfind(b"\n") + 1
    cut(disk, path, end)
