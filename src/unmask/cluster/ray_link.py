"""Engines and the fleet as actors of Ray."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError, TaskCancelledError

from unmask.backend import Generation
from unmask.cluster.call import Call, Item, Refusal, Status
from unmask.cluster.errors import ReplicaLostError
from unmask.cluster.link import Member, View
from unmask.prefix import KvPrefix

NAMESPACE = "unmask"


@contextmanager
def told_lost(name: str) -> Iterator[None]:
    """Say in our own words that an actor is gone; errors that it raised itself pass."""
    try:
        yield
    except (RayTaskError, TaskCancelledError):
        raise
    except (RayError, ValueError) as error:
        # `ray.get_actor` says with a ValueError that there is none.
        first = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise ReplicaLostError(f"{name} is lost: {first.strip()}") from error


@dataclass(frozen=True, slots=True)
class RayLink:
    """An engine's actor, by its handle."""

    name: str
    handle: Any

    async def stream(self, name: str, call: Call) -> AsyncGenerator[Item, None]:
        """Run a call."""
        with told_lost(self.name):
            async for reference in self.handle.stream.options(num_returns="streaming").remote(name, call):
                yield await reference

    async def abort(self, name: str) -> Generation | None:
        """End a call, and return what it took where that is known."""
        with told_lost(self.name):
            took: Generation | None = await self.handle.abort.remote(name)
            return took

    async def prefill(self, name: str, call: Call) -> KvPrefix | Refusal:
        """Have the prompt of a call run; what comes of it goes from that process to this one and no other."""
        with told_lost(self.name):
            try:
                found: KvPrefix | Refusal = await self.handle.prefill.remote(name, call)
            except asyncio.CancelledError:
                self.handle.end_prefill.remote(name)
                raise
            return found

    async def status(self, peers: tuple[Member, ...] = ()) -> Status:
        """Ask what there is to do, and tell which prefill replicas there are."""
        with told_lost(self.name):
            status: Status = await self.handle.status.remote(peers)
            return status

    async def drain(self) -> None:
        """Wait until nothing runs there, and nothing more is taken."""
        with told_lost(self.name):
            await self.handle.drain.remote()


@dataclass(frozen=True, slots=True)
class RayFleets:
    """A fleet's actor, by its name: its handle is looked up anew, as it may have been started again."""

    name: str

    async def view(self) -> View:
        """Ask which engines there are."""
        with told_lost(self.name):
            view: View = await _actor(self.name).view.remote()
            return view

    async def drain(self) -> None:
        """Finish what runs, and end every engine."""
        with told_lost(self.name):
            await _actor(self.name).drain.remote()


def _actor(name: str) -> Any:  # noqa: ANN401 - a handle has the methods of whatever class it is of
    return ray.get_actor(name, NAMESPACE)
