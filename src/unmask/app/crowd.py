"""All connections of a server: how many there may be, and who makes room."""

from enum import Enum
from typing import Protocol

from starlette.types import ASGIApp, Receive, Scope, Send

RESERVE = 16
"""Connections beyond the limit that are told so, and may still ask for health."""
HEALTH = "/health"


class Room(Enum):
    """What is left for a new connection."""

    FREE = "free"
    CROWDED = "crowded"
    NONE = "none"


class Member(Protocol):
    """A connection, as seen from here."""

    def evict(self) -> None:
        """Close at once, to make room; called while idle only."""
        ...

    def drain(self) -> None:
        """Close at once if quiet, else after the answer that is under way."""
        ...


class Crowd:
    """Connections that are open, at most ``limit``.

    One more closes the one that has been idle longest: idle connections keep
    nobody out, whether they wait for a next request or bring their first one a
    byte at a time. Where none is idle the new one is `Room.CROWDED`.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open: set[Member] = set()
        # In the order in which they became idle; a `dict` keeps it.
        self._idle: dict[Member, None] = {}
        self.draining = False

    @property
    def limit(self) -> int:
        """Most connections."""
        return self._limit

    def enter(self, member: Member) -> Room:
        """Count a new connection, idle as yet, and make room for it."""
        if len(self._open) >= self._limit and self._idle:
            oldest = next(iter(self._idle))
            self.leave(oldest)
            oldest.evict()
        self._open.add(member)
        self._idle[member] = None
        if len(self._open) <= self._limit:
            return Room.FREE
        return Room.CROWDED if len(self._open) <= self._limit + RESERVE else Room.NONE

    def leave(self, member: Member) -> None:
        """Count a connection no more."""
        self._open.discard(member)
        self._idle.pop(member, None)

    def begin_work(self, member: Member) -> None:
        """Take note that a request has arrived."""
        self._idle.pop(member, None)

    def end_work(self, member: Member) -> None:
        """Take note that all requests are answered."""
        if member in self._open:
            self._idle[member] = None

    def begin_drain(self) -> None:
        """Close what is quiet; every further answer is the last of its connection."""
        self.draining = True
        for member in tuple(self._open):
            member.drain()


class OnlyHealth:
    """The application of crowded connections: health is answered, all else by ``refusal``."""

    def __init__(self, app: ASGIApp, refusal: ASGIApp) -> None:
        self._app = app
        self._refusal = refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        app = self._app if scope.get("path") == HEALTH else self._refusal
        await app(scope, receive, send)
