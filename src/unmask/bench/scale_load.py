"""Asks what the scale bench asks, and tells what a round took."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from unmask.backend import Backend, Generation, Request
from unmask.types import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round of one arm.

    Attributes:
        seconds: from its first request to its last answer.
        engine_cpu_s: processor time of the engines' processes.
        other_cpu_s: that of this process and of all others that it started, such as the cluster's.
        foreign_cpu_s: that of whatever else this machine, or container, ran.
        prompt_tokens, cached_tokens: of all answers.
    """

    requests: int
    seconds: float
    engine_cpu_s: float
    other_cpu_s: float
    foreign_cpu_s: float
    prompt_tokens: int
    cached_tokens: int


async def run_round(
    backend: Backend,
    requests: Sequence[Request],
    *,
    callers: int,
    now: Callable[[], float],
    cpu_s: Callable[[], Awaitable[float]],
) -> Round:
    """Let so many callers ask, each its next request once it has its answer.

    Raises:
        AssertionError: a request was not answered: the round would mean nothing.
    """
    waiting = list(reversed(requests))
    answers: list[Generation] = []

    async def call() -> None:
        while waiting:
            answers.append(await backend.generate(waiting.pop()))

    engines, family, machine, started = await cpu_s(), family_cpu_s(os.getpid()), machine_cpu_s(), now()
    await asyncio.gather(*(call() for _ in range(callers)))
    seconds = now() - started
    engines = await cpu_s() - engines
    family = family_cpu_s(os.getpid()) - family
    assert all(answer.outcome is Outcome.COMPLETED for answer in answers), "every request is answered"
    return Round(
        requests=len(requests),
        seconds=seconds,
        engine_cpu_s=engines,
        other_cpu_s=max(0.0, family - engines),
        foreign_cpu_s=max(0.0, machine_cpu_s() - machine - family),
        prompt_tokens=sum(answer.usage.prompt_tokens for answer in answers),
        cached_tokens=sum(answer.usage.cached_tokens for answer in answers),
    )


def family_cpu_s(pid: int, processes: Path = Path("/proc")) -> float:
    """Return the processor time so far of a process and of all that have come of it and still run."""
    parents: dict[int, int] = {}
    taken: dict[int, int] = {}
    for path in processes.glob("[0-9]*/stat"):
        with suppress(OSError):
            # The name before the bracket may hold anything.
            fields = path.read_text().rpartition(")")[2].split()
            parents[int(path.parent.name)] = int(fields[1])
            taken[int(path.parent.name)] = int(fields[11]) + int(fields[12])
    family = {pid}
    while grown := {child for child, parent in parents.items() if parent in family} - family:
        family |= grown
    return sum(taken.get(one, 0) for one in family) / os.sysconf("SC_CLK_TCK")


def machine_cpu_s(root: Path = Path("/")) -> float:
    """Return the processor time of everything so far: of a container where this is one, else of the machine."""
    container = root / "sys/fs/cgroup/cpu.stat"
    if container.is_file():
        return int(container.read_text().split()[1]) / 1_000_000
    user, nice, system, _idle, _wait, *interrupts = map(
        int, (root / "proc/stat").read_text().split("\n", 1)[0].split()[1:8]
    )
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")
