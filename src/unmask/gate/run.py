"""Asks every scenario of a suite and keeps each answer the moment it is whole."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from unmask.gate.artefacts import RunFolder
from unmask.gate.asking import Asker
from unmask.gate.patience import Trying
from unmask.gate.response import Binding, Response
from unmask.gate.run_plan import Run

Progress = Callable[[int, int], None]
"""Told how many answers there are, and of how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How a run ended.

    Attributes:
        answered: keys that have an answer, those of earlier attempts among them.
        faults: keys that have a fault, with its words.
    """

    answered: int
    faults: tuple[Response, ...]


def binding_of(run: Run, *, name: str, revision: str, started: str) -> Binding:
    """Return what a run is bound to.

    Args:
        run: what is asked of whom.
        name: of the run.
        revision: of the code.
        started: day and time in ISO 8601.
    """
    return Binding(
        run=name,
        suite=run.suite.digest,
        family=run.suite.family,
        worlds=tuple(sorted((world_id, world.digest) for world_id, world in run.suite.worlds.items())),
        retrieval=run.retriever.name,
        revision=revision,
        seeds=run.seeds,
        systems=tuple(endpoint.system for endpoint in run.endpoints),
        started=started,
    )


async def ask_all(run: Run, folder: RunFolder, trying: Trying, progress: Progress) -> Asked:
    """Ask whatever has no answer yet; an answer is in the folder as soon as it is whole.

    Cancelled, the run loses no more than what is under way, and goes on from there when it is called again.

    Raises:
        RunFolderError: the folder cannot be read or written, or another process asks the same run.
        UnmaskError: a request is not allowed, which asking again would not change.
    """
    with folder.alone():
        return await _ask_left(run, folder, trying, progress)


async def _ask_left(run: Run, folder: RunFolder, trying: Trying, progress: Progress) -> Asked:
    keys = list(run.keys())
    wanted = frozenset(keys)
    held = {response.key: response for response in folder.responses() if response.key in wanted}
    left = [key for key in keys if key not in held or held[key].fault is not None]
    done = len(keys) - len(left)
    asker = Asker(run, trying)
    writing = asyncio.Lock()
    jobs = iter(left)

    async def work() -> None:
        nonlocal done
        for key in jobs:
            response = await asker.answer(key)
            async with writing:
                # Written whole, even when the run is interrupted meanwhile; a store far away takes its time elsewhere.
                await asyncio.shield(asyncio.to_thread(folder.append_responses, [response]))
            held[key] = response
            done += 1
            progress(done, len(keys))

    if done:
        progress(done, len(keys))
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(run.way.concurrency, len(left))):
                group.create_task(work())
    except BaseExceptionGroup as failures:
        # Whichever was first has ended the others.
        raise failures.exceptions[0] from failures
    faults = tuple(response for response in held.values() if response.fault is not None)
    return Asked(answered=len(held) - len(faults), faults=faults)
