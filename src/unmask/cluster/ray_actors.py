"""What runs in the processes of a Ray cluster."""

import asyncio
import os
import uuid
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import ray
from ray import serve

from unmask.app.local import local_backend
from unmask.backend import Generation
from unmask.clock import SystemClock
from unmask.cluster.call import Call, Item, Status
from unmask.cluster.engine_host import EngineHost
from unmask.cluster.fleet import Fleet
from unmask.cluster.gateway import Gateway, GatewayPlan
from unmask.cluster.link import View
from unmask.cluster.ray_link import NAMESPACE, RayFleets, RayLink
from unmask.cluster.scaling import ScaleTerms
from unmask.config import Settings

MOST_CALLS = 10_000
"""Of one engine's actor at once; the engine's own queue has the limit that is meant."""
TURN_S = 0.25
"""Seconds between two rounds of questions to the engines."""


class EngineActor:
    """One engine; an error while it starts is said by all calls."""

    def __init__(self, settings: Settings) -> None:
        backend = local_backend(replace(settings, replicas=1))
        self._host = EngineHost(backend, SystemClock(), uuid.uuid4().hex)

    async def stream(self, name: str, call: Call) -> AsyncGenerator[Item, None]:
        """Run a call."""
        async for item in self._host.stream(name, call):
            yield item

    async def abort(self, name: str) -> Generation | None:
        """End a call."""
        return await self._host.abort(name)

    async def status(self) -> Status:
        """Say what there is to do."""
        return self._host.status()

    async def pid(self) -> int:
        """Return the number of this process, for whoever looks after it."""
        return os.getpid()

    async def drain(self) -> None:
        """Finish what runs, and take nothing more."""
        await self._host.drain()


class RayLauncher:
    """Starts engines as actors that outlive whoever starts them; Ray starts one that dies again.

    Args:
        fleet: the name that theirs begin with.
        settings: of the deployment.
    """

    def __init__(self, fleet: str, settings: Settings) -> None:
        self._fleet = fleet
        self._settings = settings

    def existing(self) -> tuple[str, ...]:
        """Name those that run already."""
        prefix = engine_name(self._fleet, "")
        return tuple(name.removeprefix(prefix) for name in actor_names() if name.startswith(prefix))

    def start(self, name: str) -> RayLink:
        """Start one, or return the one that runs."""
        # Ray's stubs know no options of classes.
        make: Any = ray.remote(EngineActor)
        actor = make.options(
            name=engine_name(self._fleet, name),
            namespace=NAMESPACE,
            lifetime="detached",
            get_if_exists=True,
            max_restarts=-1,
            max_concurrency=MOST_CALLS,
            num_cpus=self._settings.cluster_replica_cpus,
            num_gpus=self._settings.cluster_replica_gpus,
        )
        return RayLink(f"engine {name}", actor.remote(self._settings))

    def stop(self, name: str) -> None:
        """End one at once."""
        end_actor(engine_name(self._fleet, name))


class FleetActor:
    """The fleet's process; it works while somebody looks at it, and gateways always do."""

    def __init__(self, name: str, settings: Settings) -> None:
        self._name = name
        self._settings = settings
        self._fleet: Fleet | None = None
        self._working: asyncio.Task[None] | None = None

    async def view(self) -> View:
        """Say which engines there are."""
        if self._fleet is None:
            least = self._settings.replicas
            most = self._settings.cluster_most_replicas or least
            terms = ScaleTerms(least=least, most=most, drain_s=self._settings.cluster_drain_s)
            self._fleet = Fleet(RayLauncher(self._name, self._settings), terms, SystemClock())
        if self._working is None or self._working.done():
            self._working = asyncio.get_running_loop().create_task(self._work(self._fleet))
        return self._fleet.view()

    async def drain(self) -> None:
        """Finish what runs, and end every engine."""
        if self._working is not None:
            self._working.cancel()
        if self._fleet is not None:
            await self._fleet.drain()

    async def _work(self, fleet: Fleet) -> None:
        while True:
            await fleet.turn()
            await asyncio.sleep(TURN_S)


@serve.ingress()
class GatewayDeployment:
    """A gateway as a deployment of Ray Serve; what keeps it from opening is in the deployment's message."""

    # Serve waits for it.
    async def __init__(self, plan: GatewayPlan, fleet: str) -> None:  # type: ignore[misc]
        self._gateway = Gateway(plan, RayFleets(fleet), lambda: uuid.uuid4().hex)
        await self._gateway.open()

    def __serve_build_asgi_app__(self) -> Gateway:
        """Return what serves HTTP; Serve asks for it once this is made."""
        return self._gateway


def engine_name(fleet: str, name: str) -> str:
    """Return an engine's name in the cluster."""
    return f"{fleet}-engine-{name}"


def actor_names() -> tuple[str, ...]:
    """Return the names of all actors of ours in the cluster."""
    found: list[dict[str, Any]] = ray.util.list_named_actors(all_namespaces=True)
    return tuple(one["name"] for one in found if one["namespace"] == NAMESPACE)


def end_actor(name: str) -> None:
    """End an actor by its name, if it is there; it is not started again."""
    try:
        ray.kill(ray.get_actor(name, NAMESPACE))
    except ValueError:
        return
