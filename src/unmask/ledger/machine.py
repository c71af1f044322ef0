"""Which process this is, and whether another one on the same machine still runs."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

_ENDED = ("Z", "X")


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A process: its machine, its number there, and when it began, for numbers are used again.

    ``machine`` is empty where there is no telling; processes in other containers are on other machines.
    """

    machine: str
    pid: int
    began: str


class Machine(Protocol):
    """Tells processes apart."""

    def me(self) -> Identity:
        """Return this process."""
        ...

    def has_ended(self, identity: Identity) -> bool:
        """Tell whether a process is known to have ended; false where it cannot be told."""
        ...


class SystemMachine:
    """What Linux says in ``/proc``; elsewhere nothing can be told."""

    def me(self) -> Identity:
        """Return this process."""
        pid = os.getpid()
        found = _began(pid)
        return Identity(machine=_machine() if found else "", pid=pid, began=found or "")

    def has_ended(self, identity: Identity) -> bool:
        """Tell whether a process of this machine is gone, or another one has its number."""
        if not identity.machine or identity.machine != _machine():
            return False
        return _began(identity.pid) != identity.began


def _machine() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def _began(pid: int) -> str | None:
    """Return when a process began, in ticks since the machine did; ``None`` if it does not run."""
    try:
        line = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The program's name stands in brackets and may hold anything.
    state, *fields = line.rpartition(")")[2].split()
    return None if state in _ENDED else fields[18]
