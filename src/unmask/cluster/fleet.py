"""Keeps the engines: starts and stops them, asks them what they have to do, and tells gateways."""

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Protocol

from unmask.backend import ModelInfo
from unmask.clock import Clock
from unmask.cluster.call import Status
from unmask.cluster.errors import ReplicaLostError
from unmask.cluster.link import Link, Member, View
from unmask.cluster.scaling import Scaler, ScaleTerms

STATUS_S = 10.0
"""Longest that an engine may take to say what it has to do, before requests are kept away."""
TURN_S = 1.0
"""Longest that a turn waits for words; who is slower, or not placed yet, is heard in a later one."""

_LOG = logging.getLogger(__name__)


class Launcher(Protocol):
    """Starts and ends engines' processes; one that dies is started again by whoever it is that runs them."""

    def existing(self) -> tuple[str, ...]:
        """Name those that run already: an earlier fleet's, whose process was lost."""
        ...

    def start(self, name: str) -> Link:
        """Start one, or return the one that runs under this name; where there is no room, it starts once there is."""
        ...

    def stop(self, name: str) -> None:
        """End one at once."""
        ...


@dataclass(slots=True, kw_only=True)
class _Engine:
    name: str
    link: Link
    status: Status | None = None
    problem: str | None = None
    asking: asyncio.Task[None] | None = None
    asked_at: float = 0.0


class Fleet:
    """Engines ``1`` to ``most``, of which the first ``least`` always run."""

    def __init__(self, launcher: Launcher, terms: ScaleTerms, clock: Clock) -> None:
        self._launcher = launcher
        self._terms = terms
        self._clock = clock
        self._scaler = Scaler(terms)
        self._models: tuple[ModelInfo, ...] = ()
        self._leaving: set[asyncio.Task[None]] = set()
        count = max([terms.least, *(int(name) for name in launcher.existing())])
        self._engines = [self._started(number) for number in range(1, count + 1)]

    def view(self) -> View:
        """Return what gateways are told."""
        members = (
            Member(name=one.name, link=one.link, status=one.status, problem=one.problem) for one in self._engines
        )
        return View(members=tuple(members), models=self._models)

    async def turn(self, peers: tuple[Member, ...] = ()) -> None:
        """Ask every engine that is not being asked, then start or stop what is too few or too many.

        Args:
            peers: prefill replicas that they are told of.
        """
        asking = [self._asking(one, self._clock.now(), peers) for one in self._engines]
        if asking:
            await asyncio.wait(asking, timeout=TURN_S)
        well = [one for one in self._engines if one.status is not None and one.problem is None]
        loads = tuple(one.status.loads for one in well if one.status is not None)
        wanted = self._scaler.wanted(self._clock.now(), len(self._engines), loads)
        while len(self._engines) < wanted:
            self._engines.append(self._started(len(self._engines) + 1))
        while len(self._engines) > wanted:
            self._let_go(self._engines.pop())

    async def drain(self) -> None:
        """Finish what runs, and end every engine."""
        engines, self._engines = self._engines, []
        for one in engines:
            self._let_go(one)
        await asyncio.gather(*self._leaving)

    def _started(self, number: int) -> _Engine:
        name = str(number)
        return _Engine(name=name, link=self._launcher.start(name))

    def _let_go(self, engine: _Engine) -> None:
        self._spawn(self._ended(engine))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    async def _ended(self, engine: _Engine) -> None:
        """End an engine once what runs there is finished: gateways send it nothing from the next view on."""
        try:
            if engine.asking is not None:
                engine.asking.cancel()
            if engine.status is not None:
                await engine.link.drain()
        except ReplicaLostError as error:
            _LOG.warning("engine %s went while it was to finish: %s", engine.name, error)
        self._launcher.stop(engine.name)

    def _asking(self, engine: _Engine, now: float, peers: tuple[Member, ...]) -> asyncio.Task[None]:
        if engine.asking is None or engine.asking.done():
            engine.asking = asyncio.get_running_loop().create_task(self._ask(engine, peers))
            engine.asked_at = now
        elif engine.status is not None and now - engine.asked_at > STATUS_S:
            engine.problem = f"it has not answered for {now - engine.asked_at:.0f} s"
        return engine.asking

    async def _ask(self, engine: _Engine, peers: tuple[Member, ...]) -> None:
        try:
            engine.status = await engine.link.status(peers)
        except ReplicaLostError as error:
            engine.problem = f"it does not answer: {error.message}"
            return
        self._models = self._models or engine.status.models
        engine.problem = _difference(engine.status.models, self._models)


def _difference(found: tuple[ModelInfo, ...], expected: tuple[ModelInfo, ...]) -> str | None:
    """Say in what an engine's models differ from those of the fleet: its answers would be of something else."""
    if found == expected:
        return None
    served, wanted = ({one.name: one.digest for one in models} for models in (found, expected))
    if served == wanted:
        return "it serves the fleet's models with other limits; deploy again, with one version of everything"
    names = ", ".join(f"{name} {digest}" for name, digest in served.items())
    others = ", ".join(f"{name} {digest}" for name, digest in wanted.items())
    return f"it serves {names}, allowed: {others}, as the others do; give every node the same package"
