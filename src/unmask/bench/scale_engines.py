"""Engines of the scale bench: actors of a Ray cluster of this machine, each kept to a processor of its own."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ray

from unmask.cluster.link import Member, View
from unmask.cluster.ray_actors import EngineActor
from unmask.cluster.ray_link import RayLink
from unmask.config import Settings

STORE_BYTES = 100_000_000
"""Of Ray's object store; what goes through it are requests and answers."""
START_S = 300.0


class PinnedEngine(EngineActor):
    """An engine on one processor, whatever threads it has."""

    def __init__(self, settings: Settings, core: int) -> None:
        for thread in Path("/proc/self/task").iterdir():
            os.sched_setaffinity(int(thread.name), {core})
        super().__init__(settings)

    async def cpu_s(self) -> float:
        """Return the processor time of this process so far."""
        return time.process_time()


class PinnedEngines:
    """The engines by name, as a gateway sees a fleet."""

    def __init__(self, settings: Settings, cores: Sequence[int]) -> None:
        make: Any = ray.remote(PinnedEngine)
        actor = make.options(num_cpus=1, max_concurrency=1_000)
        self._handles: dict[str, Any] = {
            str(number): actor.remote(settings, core) for number, core in enumerate(cores, start=1)
        }

    async def view(self) -> View:
        """Ask all of them."""
        links = {name: RayLink(f"engine {name}", handle) for name, handle in self._handles.items()}
        members = [Member(name=name, link=link, status=await link.status()) for name, link in links.items()]
        status = members[0].status
        assert status is not None, "each was asked"
        return View(members=tuple(members), models=status.models)

    async def cpu_s(self) -> float:
        """Return the processor time of all engines so far."""
        return sum([float(await handle.cpu_s.remote()) for handle in self._handles.values()])


@contextmanager
def opened_engines(settings: Settings, cores: Sequence[int]) -> Iterator[PinnedEngines]:
    """Start a cluster of this machine with an engine on each of ``cores``, and end it with the block."""
    ray.init(num_cpus=len(cores), include_dashboard=False, object_store_memory=STORE_BYTES, log_to_driver=False)
    try:
        engines = PinnedEngines(settings, cores)
        ray.get([handle.status.remote() for handle in engines._handles.values()], timeout=START_S)  # noqa: SLF001
        yield engines
    finally:
        ray.shutdown()
