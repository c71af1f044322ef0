"""How an engine of another process is reached."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol

from unmask.backend import Generation, ModelInfo
from unmask.cluster.call import Call, Item, Status


class Link(Protocol):
    """One engine's process; each method raises `ReplicaLostError` where it is gone."""

    def stream(self, name: str, call: Call) -> AsyncGenerator[Item, None]:
        """Run a call."""
        ...

    async def abort(self, name: str) -> Generation | None:
        """End a call, and return what it took where that is known."""
        ...

    async def status(self) -> Status:
        """Ask what there is to do."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a gateway is told of the engines.

    Attributes:
        members: those that requests may go to, or could but for a problem.
        models: what all of them serve; empty before the first has started.
    """

    members: tuple[Member, ...]
    models: tuple[ModelInfo, ...]

    @property
    def ready(self) -> tuple[str, ...]:
        """Names of those that take requests."""
        return tuple(one.name for one in self.members if one.status is not None and one.problem is None)
