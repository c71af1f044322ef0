"""A gateway: our application over the engines of a fleet, as an ASGI application that is opened and closed."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from rich.console import Console
from starlette.types import ASGIApp, Receive, Scope, Send

from unmask.app.books import opened_engine
from unmask.app.local import scheduling
from unmask.app.site import Site, opened_site
from unmask.app.tracing import opened_tracing
from unmask.backend import ModelInfo
from unmask.clock import Clock, SystemClock
from unmask.cluster.errors import ReplicaLostError
from unmask.cluster.link import View
from unmask.cluster.slot import Slot
from unmask.config import Settings
from unmask.control.sources import PolicySource, short_digest
from unmask.errors import ConfigError, NoCapacityError
from unmask.replicas.backend import ReplicaBackend
from unmask.replicas.prompt import ReadPrompt, token_reader
from unmask.text.tokenizer import packaged_tokenizer

FOLLOW_S = 0.25
"""Seconds between two looks at the fleet."""

_LOG = logging.getLogger(__name__)


class Fleets(Protocol):
    """Where a gateway learns which engines there are."""

    async def view(self) -> View:
        """Ask; raises `ReplicaLostError` where nobody answers at present."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayPlan:
    """What every gateway of a deployment is given alike.

    Attributes:
        settings: of the deployment.
        policies: digest of the policy in force for each model where the deployment was made; ``None`` for none.
    """

    settings: Settings
    policies: Mapping[str, str | None]


class Gateway:
    """Serves HTTP once it is open; the end of the ASGI lifespan closes it."""

    def __init__(self, plan: GatewayPlan, fleets: Fleets, new_id: Callable[[], str]) -> None:
        self._plan = plan
        self._fleets = fleets
        self._new_id = new_id
        self._stack = AsyncExitStack()
        self._site: Site | None = None
        self._backend: ReplicaBackend | None = None

    async def open(self) -> None:
        """Wait for an engine, open the books and build the application.

        Raises:
            ConfigError: another policy is in force here than where the deployment was made, or a file cannot be read.
            NoCapacityError: no engine has started in time.
            UnmaskError: what `opened_site` raises.
        """
        settings = self._plan.settings
        most = settings.cluster_most_replicas or settings.replicas
        async with AsyncExitStack() as stack:
            engine = stack.enter_context(opened_engine(settings, os.environ))
            tracing = stack.enter_context(opened_tracing(settings))
            read = token_reader(packaged_tokenizer().encode_chat, scheduling(settings).page_size)
            self._backend = await stack.enter_async_context(
                opened_backend(
                    self._fleets, most, read, SystemClock(), self._new_id, patience_s=settings.cluster_start_s
                )
            )
            site = await stack.enter_async_context(
                opened_site(replace(settings, replicas=most), self._backend, engine, tracing, Console(stderr=True))
            )
            check_policies(self._plan.policies, site.parts.policies, self._backend.models())
            self._site = site
            self._stack = stack.pop_all()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or the lifespan."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        assert self._site is not None, "opened before it serves"
        app: ASGIApp = self._site.app
        await app(scope, receive, send)

    async def close(self) -> None:
        """Refuse what is new, finish what runs within the drain time, and book what waits."""
        assert self._site is not None, "opened before it is closed"
        assert self._backend is not None, "opened before it is closed"
        self._site.running.begin_drain()
        try:
            async with asyncio.timeout(self._plan.settings.drain_s):
                await self._backend.drain()
        except TimeoutError:
            _LOG.warning("requests cut off: %d", self._site.running.cut_off())
        await self._stack.aclose()

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.close()
        await send({"type": "lifespan.shutdown.complete"})


@asynccontextmanager
async def opened_backend(
    fleets: Fleets, most: int, read: ReadPrompt, clock: Clock, new_id: Callable[[], str], *, patience_s: float
) -> AsyncIterator[ReplicaBackend]:
    """Yield a backend over the engines of a fleet, whichever there are from time to time.

    Args:
        fleets: tells of them.
        most: engines that there may be.
        read: reads prompts by the engines' pages.
        clock: of the times that answers carry.
        new_id: names calls.
        patience_s: longest that the first engine is waited for.

    Raises:
        NoCapacityError: none has started by then.
    """
    view = await _first_view(fleets, patience_s)
    # What the first of them says of its pages is taken for all.
    names = sorted(map(str, range(1, most + 1)), key=lambda name: name not in view.ready)
    slots = {name: Slot(view.models, clock, new_id) for name in names}
    give(slots, view)
    following = asyncio.get_running_loop().create_task(_follow(fleets, slots))
    try:
        yield ReplicaBackend(slots, read)
    finally:
        following.cancel()
        await asyncio.wait((following,))


def give(slots: Mapping[str, Slot], view: View) -> None:
    """Tell every slot which engine it has; a view without any is of a fleet that is being taken down."""
    members = {one.name: one for one in view.members}
    if members:
        for name, slot in slots.items():
            slot.hold(members.get(name))


def check_policies(expected: Mapping[str, str | None], here: PolicySource, models: tuple[ModelInfo, ...]) -> None:
    """Refuse to serve under other policies than the rest of the deployment.

    Raises:
        ConfigError: naming the model, both policies and the fix.
    """
    for model in models:
        active = here.active_policy(model.name, model.digest)
        found, wanted = None if active is None else active.digest, expected.get(model.name)
        if found != wanted:
            names = ["none" if one is None else short_digest(one) for one in (found, wanted)]
            raise ConfigError(
                f"policy_dir: the policy of {model.name} is {names[0]} on this node, allowed: {names[1]}, which was in "
                "force where the deployment was made. Put policy_dir on storage that all nodes share and deploy again.",
                param="policy_dir",
            )


async def _first_view(fleets: Fleets, patience_s: float) -> View:
    view = await fleets.view()
    try:
        async with asyncio.timeout(patience_s):
            while not view.ready:
                await asyncio.sleep(FOLLOW_S)
                view = await fleets.view()
    except TimeoutError as error:
        raise NoCapacityError(f"no engine has started within {patience_s:g} s") from error
    return view


async def _follow(fleets: Fleets, slots: Mapping[str, Slot]) -> None:
    """Look again and again; while nobody answers, what was last said holds."""
    is_heard = True
    while True:
        await asyncio.sleep(FOLLOW_S)
        try:
            give(slots, await fleets.view())
            is_heard = True
        except ReplicaLostError as error:
            if is_heard:
                _LOG.warning("the fleet does not answer; engines are taken to be as they were: %s", error)
            is_heard = False
