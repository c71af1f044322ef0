"""Behaviour of `unmask.ledger.machine`: which processes still run."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from unmask.ledger.machine import Identity, SystemMachine

MACHINE = SystemMachine()

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="told on Linux only")


def identity_of(pid: int) -> Identity:
    """Return another process of this machine."""
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    return Identity(machine=MACHINE.me().machine, pid=pid, began=stat.rpartition(")")[2].split()[19])


def test_this_process_runs() -> None:
    """It finds itself as others do."""
    me = MACHINE.me()

    assert me == identity_of(os.getpid())
    assert not MACHINE.has_ended(me)


def test_a_killed_process_has_ended_before_its_parent_notices() -> None:
    """What nobody has waited for yet is no more than a number."""
    child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"])
    identity = identity_of(child.pid)
    assert not MACHINE.has_ended(identity)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert MACHINE.has_ended(identity)
    child.wait()
    assert MACHINE.has_ended(identity)


def test_a_number_that_is_used_again_is_another_process() -> None:
    """Processes are told apart by when they began."""
    assert MACHINE.has_ended(replace(MACHINE.me(), began="1"))


def test_nothing_is_known_of_other_machines() -> None:
    """Nor of other containers, nor where there is no telling."""
    assert not MACHINE.has_ended(Identity(machine="elsewhere", pid=1, began="1"))
    assert not MACHINE.has_ended(Identity(machine="", pid=os.getpid(), began="1"))
