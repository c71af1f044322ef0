"""Brings a deployment up on a Ray cluster, and takes it down."""

import asyncio
import logging
import os
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import ray
from ray import serve
from ray.serve.config import HTTPOptions
from ray.serve.exceptions import RayServeException
from ray.serve.schema import ApplicationStatus

from unmask.cluster.checks import check_room
from unmask.cluster.errors import DeployError, ReplicaLostError
from unmask.cluster.gateway import GatewayPlan
from unmask.cluster.link import Member, View
from unmask.cluster.ray_actors import FleetActor, GatewayDeployment, Role, actor_names, called, end_actor, is_engine
from unmask.cluster.ray_link import NAMESPACE, RayFleets
from unmask.config import Settings
from unmask.control.stored import StoredPolicies
from unmask.policy.folders import open_store

APPLICATION = "unmask"
FLEET = "unmask-fleet-"
LOOK_S = 0.5
BOOKING_S = 15.0
"""Seconds beyond the drain time that a gateway has to book what waits before it is killed."""

Say = Callable[[str], None]


def bring_up(address: str, settings: Settings, say: Say) -> None:
    """Start engines, then gateways over them in place of an earlier deployment's, whose engines then end.

    Raises:
        DeployError: something does not start; an earlier deployment goes on where its gateways were not touched yet.
        NoCapacityError: the cluster is too small.
    """
    with connected(address):
        check_room(settings, ray.cluster_resources())  # type: ignore[no-untyped-call]
        earlier = fleets()
        name = f"{FLEET}{uuid.uuid4().hex[:8]}"
        try:
            view = start_engines(name, settings, say)
            start_gateways(name, settings, view)
        except BaseException:
            if not earlier:
                delete_application()
            end_fleet(name)
            raise
        for one in earlier:
            retire(one, settings.drain_s)
        waiting = [name for name, one in members_of(view) if one.status is None]
        if waiting:
            say(f"{', '.join(waiting)} wait for room in the cluster; the others serve meanwhile")
        say(f"unmask listens on http://{settings.host}:{settings.port}, on every node of the cluster")


def take_down(address: str, settings: Settings, say: Say) -> None:
    """Finish what runs, and end gateways and engines.

    Raises:
        DeployError: the cluster does not answer.
    """
    with connected(address):
        delete_application()
        for name in fleets():
            retire(name, settings.drain_s)
        say("nothing of the deployment is left; Ray and its HTTP proxies run on")


@contextmanager
def connected(address: str) -> Iterator[None]:
    """Be a client of a cluster for as long as the block runs; one that this process is in already stays.

    Raises:
        DeployError: there is none at the address.
    """
    if ray.is_initialized():
        yield
        return
    try:
        ray.init(address=address, namespace=NAMESPACE, log_to_driver=False, logging_level=logging.WARNING)
    except (ConnectionError, ValueError) as error:
        raise DeployError(f"no Ray cluster answers at {address}: {error}; start one with `ray start --head`") from error
    try:
        yield
    finally:
        ray.shutdown()


def fleets() -> tuple[str, ...]:
    """Name the fleets that run: one, but while another takes its place."""
    return tuple(name for name in actor_names() if name.startswith(FLEET) and not is_engine("", name))


def start_engines(name: str, settings: Settings, say: Say) -> View:
    """Start a fleet, and return what it says once all engines are there, or as many as there is room for.

    Raises:
        DeployError: an engine cannot start, or none has in time.
    """
    # Ray's stubs know no options of classes.
    make: Any = ray.remote(FleetActor)
    handle = make.options(name=name, namespace=NAMESPACE, lifetime="detached", max_restarts=-1, num_cpus=0).remote(
        name, settings
    )
    ends = time.monotonic() + settings.cluster_start_s
    told = 0
    while True:
        view: View = ray.get(handle.view.remote(), timeout=settings.cluster_start_s)
        failed = [f"{name}: {one.problem}" for name, one in members_of(view) if one.status is None and one.problem]
        if failed:
            raise DeployError("; ".join(failed))
        if len(view.ready) > told:
            told = len(view.ready)
            say(f"{told} of {settings.replicas} engine replicas run")
        late = time.monotonic() > ends
        beside = sum(one.is_ready for one in view.prefill)
        if (told >= settings.replicas and beside >= settings.cluster_prefill_replicas) or (late and told):
            if settings.cluster_prefill_replicas:
                say(f"{beside} of {settings.cluster_prefill_replicas} prefill replicas run")
            return view
        if late:
            raise DeployError(
                f"no engine replica has started within {settings.cluster_start_s:g} s: the cluster has no room for one "
                "at present (`ray status` says what is taken), or it loads longer (cluster_start_s)"
            )
        time.sleep(LOOK_S)


def members_of(view: View) -> tuple[tuple[str, Member], ...]:
    """Return engines of both roles, with what messages call them."""
    return (
        *((called(Role.DENOISE, one.name), one) for one in view.members),
        *((called(Role.PREFILL, one.name), one) for one in view.prefill),
    )


def start_gateways(fleet: str, settings: Settings, view: View) -> None:
    """Start gateways over a fleet, one after the other in place of those that run.

    Raises:
        DeployError: they do not start; its message is that of the first that could not.
    """
    policies = StoredPolicies(open_store(settings.policy_dir, os.environ))
    active = {model.name: policies.active_policy(model.name, model.digest) for model in view.models}
    plan = GatewayPlan(
        settings=settings, policies={name: None if one is None else one.digest for name, one in active.items()}
    )
    serve.start(proxy_location="EveryNode", http_options=HTTPOptions(host=settings.host, port=settings.port))
    deploying: Any = serve.deployment(GatewayDeployment)
    deployment = deploying.options(
        name="gateway",
        num_replicas=settings.cluster_gateways,
        ray_actor_options={"num_cpus": settings.cluster_gateway_cpus},
        max_ongoing_requests=settings.max_connections,
        graceful_shutdown_timeout_s=settings.drain_s + BOOKING_S,
    )
    target = serve.RunTarget(target=deployment.bind(plan, fleet), name=APPLICATION, route_prefix="/")
    serve.run_many([target], wait_for_applications_running=False)
    ends = time.monotonic() + settings.cluster_start_s
    while True:
        application = serve.status().applications[APPLICATION]
        if application.status is ApplicationStatus.RUNNING:
            return
        said = "; ".join(
            filter(None, (application.message, *(one.message for one in application.deployments.values())))
        )
        if application.status in {ApplicationStatus.DEPLOY_FAILED, ApplicationStatus.UNHEALTHY}:
            raise DeployError(f"gateways do not start: {said}")
        if time.monotonic() > ends:
            raise DeployError(
                f"gateways have not started within {settings.cluster_start_s:g} s: {said or application.status.value}"
            )
        time.sleep(LOOK_S)


def delete_application() -> None:
    """End the gateways, where Serve runs at all."""
    with suppress(RayServeException):
        serve.delete(APPLICATION)


def retire(name: str, drain_s: float) -> None:
    """Let a fleet finish what runs, then end it."""

    async def drained() -> None:
        async with asyncio.timeout(drain_s):
            await RayFleets(name).drain()

    with suppress(ReplicaLostError, TimeoutError):
        asyncio.run(drained())
    end_fleet(name)


def end_fleet(name: str) -> None:
    """End a fleet and its engines at once."""
    end_actor(name)
    for one in actor_names():
        if is_engine(name, one):
            end_actor(one)
