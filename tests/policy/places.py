"""Folders of policies, and disks that fail."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from unmask.policy.policy import Policy
from unmask.policy.store import PolicyStore
from unmask.testing.budget_policies import make_exit, make_policy, make_task_policy, signed

FIRST = make_policy()
SECOND = replace(FIRST, tasks=(make_task_policy(default=9), *FIRST.tasks[1:]))
STOPPING = make_policy(tasks=(make_task_policy(), make_task_policy("sort", exit=make_exit(enabled=True))))


class KilledError(BaseException):
    """The process ends here; no handler of errors runs as none would."""


class FailingDisk:
    """Fails once it has done so much; ``kill`` ends the process, otherwise the disk is full."""

    def __init__(self, allowance: int, *, kill: bool = False) -> None:
        self._left = allowance
        self._kill = kill

    @property
    def left(self) -> int:
        """What is left of the allowance."""
        return self._left

    def write(self, handle: int, content: bytes) -> int:
        """Write as many bytes as are allowed; each counts."""
        fitting = content[: self._left] if self._left >= 0 else b""
        if fitting:
            os.write(handle, fitting)
        self._spend(len(content))
        return len(content)

    def sync(self, handle: int) -> None:
        """Count as one."""
        self._spend(1)

    def rename(self, old: Path, new: Path) -> None:
        """Count as one."""
        self._spend(1)
        old.replace(new)

    def _spend(self, amount: int) -> None:
        self._left -= amount
        if self._left < 0:
            raise KilledError if self._kill else OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def promote(store: PolicyStore, policy: Policy, hour: int = 0) -> str:
    """Take a policy of ann's through bob's approval, and return its digest."""
    digest = store.propose(policy, signed("ann", hour))
    store.submit(digest, signed("ann", hour))
    store.approve(digest, signed("bob", hour))
    store.promote(digest, signed("bob", hour))
    return digest


@contextmanager
def changed(path: Path, content: bytes) -> Iterator[None]:
    """Give a file another content for a while."""
    before = path.read_bytes()
    path.write_bytes(content)
    try:
        yield
    finally:
        path.write_bytes(before)
