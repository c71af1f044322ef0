"""Hot promotion: notices that a log has grown, and takes the policy that is active now."""

import os
from dataclasses import replace

from unmask.errors import UnmaskError
from unmask.policy.active import FoundPolicy, active_policy
from unmask.policy.store import PolicyStore

Stamp = tuple[tuple[int, int, int] | None, ...]
"""Size, time of change and inode of each log; ``None`` where there is none."""


class PolicyWatch:
    """Tells the active policy of a model's weights whenever asked; a request keeps the one it was admitted under.

    Asking costs a look at the size and time of each log, some microseconds. Called from one thread.
    """

    def __init__(self, store: PolicyStore) -> None:
        self._store = store
        self._logs = tuple(str(each.log_path) for each in store.chain())
        self._found: dict[tuple[str, str], tuple[Stamp, FoundPolicy]] = {}

    def current(self, model: str, model_digest: str) -> FoundPolicy:
        """Return the active policy of a model's weights.

        One that cannot be trusted is told in a message, and the one before it stays.

        Raises:
            UnmaskError: the first time that these weights are asked for, as `unmask.policy.active.active_policy`.
        """
        # Taken before reading, so that what is written meanwhile is noticed next time.
        stamp = self._look()
        before = self._found.get((model, model_digest))
        if before is None:
            found = active_policy(self._store, model, model_digest)
        elif before[0] == stamp:
            return before[1]
        else:
            found = self._next(before[1], model, model_digest)
        self._found[model, model_digest] = stamp, found
        return found

    def _next(self, before: FoundPolicy, model: str, model_digest: str) -> FoundPolicy:
        try:
            return active_policy(self._store, model, model_digest)
        except UnmaskError as error:
            kept = "the built-in fixed budget" if before.active is None else "the policy that was active"
            return replace(before, messages=(f"{error.message}; {kept} stays in force",))

    def _look(self) -> Stamp:
        return tuple(map(_stamp, self._logs))


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - for every request, and a path object takes several times as long
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino
