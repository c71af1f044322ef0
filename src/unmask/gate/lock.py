"""One writer at a time, between processes of a machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from unmask.gate.review_errors import ReviewStoreError

LONGEST_WAIT_S = 30.0


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file for as long as the block runs; the system lets go of it when the process dies.

    Raises:
        ReviewStoreError: the folder cannot be written, or another process holds the lock for too long.
    """
    lock = FileLock(path, timeout=LONGEST_WAIT_S)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout as error:
        raise ReviewStoreError(
            f"another process has held {path} for {LONGEST_WAIT_S:g} s; wait until it is done"
        ) from error
    except OSError as error:
        raise ReviewStoreError(f"cannot write {path}: {error.strerror or error}; see who may write there") from error
    try:
        yield
    finally:
        lock.release()
