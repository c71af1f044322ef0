"""Chooses the upstream of a request among those of a model."""

from collections.abc import Collection, Sequence
from hashlib import blake2b

from unmask.backend import Request
from unmask.remote.upstream import Upstream

SLACK = 4
"""Requests by which an upstream may be ahead of the least busy one and still keep those that belong to it."""


def affinity_of(request: Request) -> bytes:
    """Return what requests have in common that should go to one upstream: their tenant and how their prompt begins.

    The turns of a session begin alike, and so do prompts with the same system message; each finds its prefix cached
    where the one before it went.
    """
    first = request.messages[0].content if request.messages else ""
    return blake2b(f"{request.tenant}\0{first}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def chosen(pool: Sequence[Upstream], request: Request, tried: Collection[str] = ()) -> Upstream:
    """Return the upstream that a request goes to.

    Of those that have not been tried and whose circuit lets it through: the one that the request belongs to by
    rendezvous hashing (Thaler and Ravishankar, "Using Name-Based Mappings to Increase Hit Rates", 1998), unless it is
    ahead of the least busy one by more than `SLACK` requests; then that one.

    Raises:
        CircuitOpenError: no circuit lets it through.
    """
    takers = [one for one in pool if one.breaker.takes]
    if not takers:
        raise min((one.breaker for one in pool), key=lambda breaker: breaker.left_s).error()
    fresh = [one for one in takers if one.name not in tried] or takers
    affinity = affinity_of(request)
    own = max(fresh, key=lambda one: _rank(one.name, affinity))
    least = min(fresh, key=lambda one: one.outstanding)
    return own if own.outstanding <= least.outstanding + SLACK else least


def _rank(name: str, affinity: bytes) -> bytes:
    return blake2b(name.encode(), key=affinity, digest_size=8).digest()
