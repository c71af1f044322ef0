"""Hot promotion: notices that a log has grown, and takes the policy that is active now."""

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

    def __init__(self, store: PolicyStore, model: str, model_digest: str) -> None:
        """Find the policy.

        Raises:
            UnmaskError: as `unmask.policy.active.active_policy`.
        """
        self._store = store
        self._model = model
        self._model_digest = model_digest
        self._stamp = self._look()
        self._found = active_policy(store, model, model_digest)

    def current(self) -> FoundPolicy:
        """Return the active policy; one that cannot be trusted is told in a message, and the one before it stays."""
        stamp = self._look()
        if stamp != self._stamp:
            # Taken before reading, so that what is written meanwhile is noticed next time.
            self._stamp = stamp
            try:
                self._found = active_policy(self._store, self._model, self._model_digest)
            except UnmaskError as error:
                kept = "the built-in fixed budget" if self._found.active is None else "the policy that was active"
                self._found = replace(self._found, messages=(f"{error.message}; {kept} stays in force",))
        return self._found

    def _look(self) -> Stamp:
        return tuple(_stamp(store) for store in self._store.chain())


def _stamp(store: PolicyStore) -> tuple[int, int, int] | None:
    try:
        found = store.log_path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino
