"""Where and on what something was measured."""

import os
import platform
import subprocess
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The machine in a line, the commit (nothing outside a repository), and the day and time in ISO 8601."""

    machine: str
    commit: str | None
    date: str


def machine() -> str:
    """Describe the machine in a line: processor, cores, system, Python."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123 - a pseudo file
            names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
            model = names[0] if names else model
    except OSError:
        pass
    return f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def commit() -> str | None:
    """Return the commit measured, with ``+`` when the tree differs from it; nothing outside a repository."""
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--abbrev=12", "--exclude=*"],  # noqa: S607 - found on PATH
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return found.stdout.strip()
