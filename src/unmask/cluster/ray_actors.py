"""What runs in the processes of a Ray cluster."""

import asyncio
import os
import uuid
from collections.abc import AsyncGenerator
from dataclasses import replace
from enum import StrEnum
from typing import Any

import ray
from ray import serve

from unmask.app.local import local_engines
from unmask.backend import Generation
from unmask.clock import SystemClock
from unmask.cluster.call import Call, Item, Refusal, Status
from unmask.cluster.engine_host import EngineHost
from unmask.cluster.fleet import Fleet
from unmask.cluster.gateway import Gateway, GatewayPlan
from unmask.cluster.link import Member, View
from unmask.cluster.pooled import PooledBackend
from unmask.cluster.prefill_host import PrefillHost
from unmask.cluster.ray_link import NAMESPACE, RayFleets, RayLink
from unmask.cluster.scaling import ScaleTerms
from unmask.config import Settings
from unmask.prefix import KvPrefix

MOST_CALLS = 10_000
"""Of one engine's actor at once; the engine's own queue has the limit that is meant."""
TURN_S = 0.25
"""Seconds between two rounds of questions to the engines."""


class Role(StrEnum):
    """What an engine is for, as its name in the cluster has it."""

    DENOISE = "engine"
    PREFILL = "prefill"


class EngineActor:
    """One engine of either role; an error while it starts is said by all calls.

    Raises:
        ConfigError: there are prefill replicas, and a model that they cannot work for.
    """

    def __init__(self, settings: Settings, role: Role = Role.DENOISE) -> None:
        (engine,) = local_engines(replace(settings, replicas=1))
        clock = SystemClock()
        self._prefills = PrefillHost(engine, clock)
        self._pooled: PooledBackend | None = None
        if settings.cluster_prefill_replicas:
            engine.check_prefixes()
        if settings.cluster_prefill_replicas and role is Role.DENOISE:
            self._pooled = PooledBackend(
                engine,
                least_tokens=settings.cluster_prefill_tokens,
                most_peers=prefill_terms(settings).most,
                clock=clock,
                new_id=lambda: uuid.uuid4().hex,
            )
        self._host = EngineHost(self._pooled or engine, clock, uuid.uuid4().hex)

    async def stream(self, name: str, call: Call) -> AsyncGenerator[Item, None]:
        """Run a call."""
        async for item in self._host.stream(name, call):
            yield item

    async def abort(self, name: str) -> Generation | None:
        """End a call."""
        return await self._host.abort(name)

    async def prefill(self, name: str, call: Call) -> KvPrefix | Refusal:
        """Run the prompt of a call."""
        return await self._prefills.prefill(name, call)

    async def end_prefill(self, name: str) -> None:
        """End a prompt that nobody waits for any more."""
        self._prefills.abort(name)

    async def status(self, peers: tuple[Member, ...] = ()) -> Status:
        """Say what there is to do, and take note of which prefill replicas there are."""
        if self._pooled is not None:
            self._pooled.meet(peers)
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
        role: what the engines are for.
    """

    def __init__(self, fleet: str, settings: Settings, role: Role) -> None:
        self._fleet = fleet
        self._settings = settings
        self._role = role

    def existing(self) -> tuple[str, ...]:
        """Name those that run already."""
        prefix = engine_name(self._fleet, self._role, "")
        return tuple(name.removeprefix(prefix) for name in actor_names() if name.startswith(prefix))

    def start(self, name: str) -> RayLink:
        """Start one, or return the one that runs."""
        # Ray's stubs know no options of classes.
        make: Any = ray.remote(EngineActor)
        actor = make.options(
            name=engine_name(self._fleet, self._role, name),
            namespace=NAMESPACE,
            lifetime="detached",
            get_if_exists=True,
            max_restarts=-1,
            max_concurrency=MOST_CALLS,
            num_cpus=self._settings.cluster_replica_cpus,
            num_gpus=self._settings.cluster_replica_gpus,
        )
        return RayLink(called(self._role, name), actor.remote(self._settings, self._role))

    def stop(self, name: str) -> None:
        """End one at once."""
        end_actor(engine_name(self._fleet, self._role, name))


class FleetActor:
    """The fleet's process; it works while somebody looks at it, and gateways always do."""

    def __init__(self, name: str, settings: Settings) -> None:
        self._name = name
        self._settings = settings
        self._fleet: Fleet | None = None
        self._prefill: Fleet | None = None
        self._working: asyncio.Task[None] | None = None

    async def view(self) -> View:
        """Say which engines there are."""
        if self._fleet is None:
            self._fleet = self._started(Role.DENOISE, denoise_terms(self._settings))
            if self._settings.cluster_prefill_replicas:
                self._prefill = self._started(Role.PREFILL, prefill_terms(self._settings))
        if self._working is None or self._working.done():
            self._working = asyncio.get_running_loop().create_task(self._work(self._fleet))
        return replace(self._fleet.view(), prefill=self._peers())

    async def drain(self) -> None:
        """Finish what runs, and end every engine."""
        if self._working is not None:
            self._working.cancel()
        # Prefill replicas last: what the others finish may still wait for them.
        for fleet in (self._fleet, self._prefill):
            if fleet is not None:
                await fleet.drain()

    async def _work(self, fleet: Fleet) -> None:
        while True:
            turns = [fleet.turn(self._peers())]
            if self._prefill is not None:
                turns.append(self._prefill.turn())
            await asyncio.gather(*turns)
            await asyncio.sleep(TURN_S)

    def _started(self, role: Role, terms: ScaleTerms) -> Fleet:
        return Fleet(RayLauncher(self._name, self._settings, role), terms, SystemClock())

    def _peers(self) -> tuple[Member, ...]:
        return () if self._prefill is None else self._prefill.view().members


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


def denoise_terms(settings: Settings) -> ScaleTerms:
    """Return how many engines there may be that make answers."""
    least = settings.replicas
    most = settings.cluster_most_replicas or least
    return ScaleTerms(least=least, most=most, drain_s=settings.cluster_drain_s)


def prefill_terms(settings: Settings) -> ScaleTerms:
    """Return how many prefill replicas there may be."""
    least = settings.cluster_prefill_replicas
    most = settings.cluster_most_prefill_replicas or least
    return ScaleTerms(least=least, most=most, drain_s=settings.cluster_drain_s)


def engine_name(fleet: str, role: Role, name: str) -> str:
    """Return an engine's name in the cluster."""
    return f"{fleet}-{role}-{name}"


def is_engine(fleet: str, name: str) -> bool:
    """Tell whether a name in the cluster is that of a fleet's engine, or of any fleet's where none is named."""
    return any(f"{fleet}-{role}-" in name for role in Role)


def called(role: Role, name: str) -> str:
    """Return what messages call an engine."""
    return f"engine {name}" if role is Role.DENOISE else f"prefill replica {name}"


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
