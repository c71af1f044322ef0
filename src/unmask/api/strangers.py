"""Bounds a flood of wrong keys: each costs a look into the database, and nobody pays for it."""

from collections.abc import Callable
from ipaddress import IPv6Address, ip_address, ip_network

from unmask.clock import Clock
from unmask.tenants.errors import WrongKeysError

WINDOW_S = 60.0
MOST_ADDRESSES = 10_000
"""Addresses that are counted at once; beyond them the oldest is forgotten."""
_PREFIX_BITS = 64
"""Whoever has one address of IPv6 has all that begin so."""


class Strangers:
    """Counts wrong keys by the address that they come from, in pieces of a minute.

    Addresses of this machine are not counted: all clients of a proxy beside the server have one, unless it says whom it
    asks for. A key that is known is let in however many wrong ones come from its address.

    Args:
        limit: wrong keys of an address in a minute; 0 for as many as come.
        clock: tells minutes apart.
    """

    def __init__(self, limit: int, clock: Clock) -> None:
        self._limit = limit
        self._clock = clock
        self._begun = clock.now()
        self._counts: dict[str, int] = {}

    def check(self, host: str | None, is_known: Callable[[], bool]) -> None:
        """Raise a `WrongKeysError` where too many wrong keys came from an address, unless this one is known."""
        self._turn()
        if self._counts.get(_address(host), 0) >= self._limit > 0 and not is_known():
            raise WrongKeysError(self._limit, retry_after_s=WINDOW_S - (self._clock.now() - self._begun))

    def refused(self, host: str | None) -> None:
        """Count a wrong key."""
        address = _address(host)
        if not address or not self._limit:
            return
        self._turn()
        self._counts[address] = self._counts.get(address, 0) + 1
        if len(self._counts) > MOST_ADDRESSES:
            del self._counts[next(iter(self._counts))]

    def _turn(self) -> None:
        now = self._clock.now()
        if now - self._begun >= WINDOW_S:
            self._begun = now
            self._counts.clear()


def _address(host: str | None) -> str:
    """Return what an address is counted under; nothing for this machine's own."""
    try:
        address = ip_address(host or "")
    except ValueError:
        # A socket of this machine's file system has none.
        return ""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is None:
            return "" if address.is_loopback else str(ip_network((address, _PREFIX_BITS), strict=False))
        address = address.ipv4_mapped
    return "" if address.is_loopback else str(address)
