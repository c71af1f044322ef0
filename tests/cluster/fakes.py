"""Engines of other processes, without processes: everything is pickled on its way, as it would be."""

import asyncio
import pickle
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, cast

from unmask.backend import Backend, Generation
from unmask.cluster.call import Call, Item, Refusal, Status
from unmask.cluster.engine_host import EngineHost
from unmask.cluster.errors import ReplicaLostError
from unmask.cluster.link import Member, View
from unmask.cluster.prefill_host import PrefillHost, PrefixBackend
from unmask.prefix import KvPrefix
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.manual_clock import ManualClock


def carried(value: Any) -> Any:  # noqa: ANN401 - whatever goes over
    """Return a value as another process gets it."""
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - our own


class FakeLink:
    """A link to an engine whose process may be killed, and started again.

    Args:
        backend: the engine.
        now: of its machine's clock, which has nothing to do with the gateway's.
    """

    def __init__(self, backend: Backend, *, now: float = 5_000.0) -> None:
        self.backend = backend
        self.clock = ManualClock(now)
        self.starts = 0
        self.is_drained = False
        self.restart()

    def restart(self) -> None:
        """Start the process again."""
        self.starts += 1
        self.host = EngineHost(self.backend, self.clock, f"start {self.starts}")
        # Asked for prompts only where its backend can run them.
        self.prefills = PrefillHost(cast("PrefixBackend", self.backend), self.clock)
        self.peers: tuple[Member, ...] = ()
        self._calls: list[asyncio.Future[Any]] = []
        self._is_killed = False

    def kill(self) -> None:
        """End the process, whatever runs there."""
        self._is_killed = True
        for call in self._calls:
            call.cancel()

    async def stream(self, name: str, call: Call) -> AsyncGenerator[Item, None]:
        """Run a call until it ends or the process does; nobody's leaving ends it."""
        self._check()
        items: asyncio.Queue[Item | Exception | None] = asyncio.Queue()
        self._calls.append(asyncio.ensure_future(_pump(self.host, name, carried(call), items)))
        while (item := await items.get()) is not None:
            if isinstance(item, Exception):
                raise item
            yield carried(item)

    async def abort(self, name: str) -> Generation | None:
        """End a call."""
        self._check()
        took: Generation | None = carried(await self.host.abort(name))
        return took

    async def prefill(self, name: str, call: Call) -> KvPrefix | Refusal:
        """Run a call's prompt until it ends or the process does; leaving ends it."""
        self._check()
        running = asyncio.ensure_future(self.prefills.prefill(name, carried(call)))
        self._calls.append(running)
        try:
            found: KvPrefix | Refusal = carried(await asyncio.shield(running))
        except asyncio.CancelledError:
            if self._is_killed:
                raise ReplicaLostError("the replica is lost") from None
            self.prefills.abort(name)
            raise
        return found

    async def status(self, peers: tuple[Member, ...] = ()) -> Status:
        """Ask the process."""
        self._check()
        self.peers = peers
        status: Status = carried(self.host.status())
        return status

    async def drain(self) -> None:
        """Let the process finish."""
        self._check()
        await self.host.drain()
        self.is_drained = True

    def _check(self) -> None:
        if self._is_killed:
            raise ReplicaLostError("the engine is lost")


async def _pump(host: EngineHost, name: str, call: Call, items: "asyncio.Queue[Item | Exception | None]") -> None:
    try:
        async with aclosing(host.stream(name, call)) as found:
            async for item in found:
                items.put_nowait(item)
    except asyncio.CancelledError:
        items.put_nowait(ReplicaLostError("the engine is lost"))
    except Exception as error:  # noqa: BLE001 - raised where the call is waited for
        items.put_nowait(error)
    items.put_nowait(None)


@dataclass(slots=True, kw_only=True)
class FakeLauncher:
    """Starts fake engines; those named ``unplaced`` find no room.

    Attributes:
        backends: of engines by name; others are plain.
        running: names that run before anybody starts one.
    """

    backends: dict[str, Backend] = field(default_factory=dict)
    running: tuple[str, ...] = ()
    links: dict[str, FakeLink] = field(default_factory=dict)
    stopped: list[str] = field(default_factory=list)

    def existing(self) -> tuple[str, ...]:
        """Name those that run already."""
        return self.running

    def start(self, name: str) -> FakeLink:
        """Start one."""
        self.links[name] = FakeLink(self.backends.get(name) or FakeBackend())
        return self.links[name]

    def stop(self, name: str) -> None:
        """End one."""
        self.stopped.append(name)


@dataclass(slots=True, kw_only=True)
class FakeFleets:
    """Says which engines there are as the test has it."""

    links: dict[str, FakeLink]
    is_lost: bool = False

    async def view(self) -> View:
        """Ask every engine."""
        if self.is_lost:
            raise ReplicaLostError("the fleet is lost")
        members = []
        for name, link in self.links.items():
            try:
                members.append(Member(name=name, link=link, status=await link.status()))
            except ReplicaLostError as error:
                members.append(Member(name=name, link=link, status=None, problem=error.message))
        return View(members=tuple(members), models=next(iter(self.links.values())).backend.models())
