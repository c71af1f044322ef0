"""Keeps a bounded number of requests running."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import TypeVar

_Job = TypeVar("_Job")


async def run_in_flight(jobs: Iterable[_Job], work: Callable[[_Job], Awaitable[None]], most: int) -> None:
    """Do all jobs, at most ``most`` at a time, in their order; the first that fails ends the others and is raised."""
    left = iter(jobs)
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(most):
                group.create_task(_take(left, work))
    except BaseExceptionGroup as failures:
        # Whichever was first has ended the others.
        raise failures.exceptions[0] from failures


async def _take(jobs: Iterator[_Job], work: Callable[[_Job], Awaitable[None]]) -> None:
    for job in jobs:
        await work(job)
