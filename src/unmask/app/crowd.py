"""All connections of a server: how many there may be, and who makes room."""

from enum import Enum
from typing import Protocol

from starlette.types import ASGIApp, Receive, Scope, Send

from unmask.api.probes import PATHS

RESERVE = 32
"""Connections beyond the limit that are told so, and may still ask for health."""


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
    """Connections that are open, at most ``limit`` and a reserve.

    One more closes the one that has been idle longest: idle connections keep
    nobody out, whether they wait for a next request or bring their first one a
    byte at a time. Where none is idle the new one comes into the reserve.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rooms = {Room.FREE: set[Member](), Room.CROWDED: set[Member]()}
        # In the order in which they became idle; a `dict` keeps it.
        self._idle: dict[Member, None] = {}
        self.draining = False

    def enter(self, member: Member) -> Room:
        """Count a new connection, idle as yet, and make room for it."""
        for room, limit in ((Room.FREE, self._limit), (Room.CROWDED, RESERVE)):
            if len(self._rooms[room]) < limit or self._make_room(room):
                self._rooms[room].add(member)
                self._idle[member] = None
                return room
        return Room.NONE

    def leave(self, member: Member) -> None:
        """Count a connection no more."""
        self._idle.pop(member, None)
        for members in self._rooms.values():
            members.discard(member)

    def begin_work(self, member: Member) -> None:
        """Take note that a request has arrived."""
        self._idle.pop(member, None)

    def end_work(self, member: Member) -> None:
        """Take note that all requests are answered."""
        if any(member in members for members in self._rooms.values()):
            self._idle[member] = None

    def begin_drain(self) -> None:
        """Close what is quiet; every further answer is the last of its connection."""
        self.draining = True
        for members in self._rooms.values():
            for member in tuple(members):
                member.drain()

    def _make_room(self, room: Room) -> bool:
        oldest = next((member for member in self._idle if member in self._rooms[room]), None)
        if oldest is None:
            return False
        self.leave(oldest)
        oldest.evict()
        return True


class OnlyProbes:
    """The application of crowded connections: health and metrics are answered, all else by ``refusal``."""

    def __init__(self, app: ASGIApp, refusal: ASGIApp) -> None:
        self._app = app
        self._refusal = refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        app = self._app if scope.get("path") in PATHS else self._refusal
        await app(scope, receive, send)
