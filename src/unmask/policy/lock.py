"""One writer at a time, between threads and processes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from unmask.policy.errors import PolicyStoreError

LOCK_NAME = "lock"


@contextmanager
def locked(folder: Path, seconds: float, option: str = "--policy-dir") -> Iterator[None]:
    """Make the folder where it is not there, and hold its lock; the system lets go of it when the process dies.

    Args:
        folder: what nobody else is to write to.
        seconds: how long to wait for whoever holds it.
        option: of commands, which names another folder.

    Raises:
        PolicyStoreError: the folder cannot be written, or another process holds the lock for longer than ``seconds``.
    """
    lock = FileLock(folder / LOCK_NAME, timeout=seconds)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout as error:
        raise PolicyStoreError(
            f"another process has held {folder / LOCK_NAME} for {seconds:g} s; wait until it is done"
        ) from error
    except OSError as error:
        raise PolicyStoreError(
            f"{folder} cannot be written: {error.strerror or error}; see who may write there, or name another with "
            f"{option}"
        ) from error
    try:
        yield
    finally:
        lock.release()
