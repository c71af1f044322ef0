"""How an engine of another process is reached."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol

from unmask.backend import Generation, ModelInfo
from unmask.cluster.call import Call, Item, Refusal, Status
from unmask.prefix import KvPrefix


class Link(Protocol):
    """One engine's process; each method raises `ReplicaLostError` where it is gone."""

    def stream(self, name: str, call: Call) -> AsyncGenerator[Item, None]:
        """Run a call."""
        ...

    async def abort(self, name: str) -> Generation | None:
        """End a call, and return what it took where that is known."""
        ...

    async def prefill(self, name: str, call: Call) -> KvPrefix | Refusal:
        """Have the prompt of a call run; leaving ends it."""
        ...

    async def status(self, peers: "tuple[Member, ...]" = ()) -> Status:
        """Ask what there is to do, and tell which prefill replicas there are."""
        ...

    async def drain(self) -> None:
        """Wait until nothing runs there, and nothing more is taken."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One engine of a fleet.

    Attributes:
        status: what it last said; nothing of one that has not started yet.
        problem: what keeps requests away from it, beside what its status tells.
    """

    name: str
    link: Link
    status: Status | None
    problem: str | None = None

    @property
    def is_ready(self) -> bool:
        """Whether it runs, and nothing is wrong with it."""
        return self.status is not None and self.problem is None


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a gateway is told of the engines.

    Attributes:
        members: those that requests may go to, or could but for a problem.
        models: what all of them serve; empty before the first has started.
        prefill: prefill replicas, which no request goes to.
    """

    members: tuple[Member, ...]
    models: tuple[ModelInfo, ...]
    prefill: tuple[Member, ...] = ()

    @property
    def ready(self) -> tuple[str, ...]:
        """Names of those that take requests."""
        return tuple(one.name for one in self.members if one.is_ready)
