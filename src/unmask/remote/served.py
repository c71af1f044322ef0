"""A model that other servers serve, as a whole or as one of its pools."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from unmask.backend import Generation, ModelInfo, Request
from unmask.remote.allowance import Allowance, pool_of, vllm_allowance
from unmask.remote.engines import PoolSettings, SglangSettings
from unmask.remote.meter import Meter
from unmask.remote.pool import Pool
from unmask.remote.settings import RemoteModel
from unmask.routing import ReplicaLoad
from unmask.types import Bucket


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedRemotely:
    """A model, what is said of it here, and the servers that serve it.

    Attributes:
        meters: of upstreams whose steps are estimated, by name.
        tier: the setting of its servers, where it is one pool of a model.
        tiers: the same model by pool, where it has pools.
    """

    settings: RemoteModel
    info: ModelInfo
    pool: Pool
    meters: Mapping[str, Meter] = field(default_factory=lambda: MappingProxyType({}))
    tier: PoolSettings | None = None
    tiers: "Mapping[str, ServedRemotely]" = field(default_factory=lambda: MappingProxyType({}))

    def places(self, name: str) -> tuple[tuple[str, Pool], ...]:
        """Return what requests can need, under a name to show, and where it is: pools, or all of it."""
        if not self.tiers:
            return ((name, self.pool),)
        return tuple((f"{name} in pool {pool}", tier.pool) for pool, tier in self.tiers.items())

    def loads(self) -> tuple[ReplicaLoad, ...]:
        """Return what is told of each upstream; where there are pools, each has a router of its own."""
        return tuple(load for _, pool in self.places("") for load in pool.loads())

    def max_tokens_of(self, request: Request) -> int:
        """Return the tokens that a request is sent with."""
        return request.max_tokens or self.info.default_max_tokens

    def serving(self, request: Request) -> "ServedRemotely":
        """Return what serves a request: the pool that fits it, or all of it.

        Raises:
            InvalidRequestError: no pool fits.
        """
        if self.settings.sglang is None:
            return self
        return self.tiers[pool_of(request, self.info, self.settings.sglang, self.max_tokens_of(request)).name]

    def allowance_of(self, request: Request) -> Allowance | None:
        """Return what a request may take; nothing of servers that have no such thing, or say it themselves.

        Raises:
            InvalidRequestError: it is less than a step for each canvas.
        """
        if self.tier is not None:
            return Allowance(steps=self.tier.steps, width=self.info.default_canvas_length)
        return None if self.settings.vllm is None else vllm_allowance(request, self.info, self.max_tokens_of(request))

    def tiered(self, request: Request, generation: Generation) -> Generation:
        """Return a generation with the bucket of the pool that has served it, if it is one."""
        if self.tier is None:
            return generation
        return replace(generation, bucket=_bucket(request.bucket, self.tier.buckets))


def with_tiers(served: ServedRemotely, settings: SglangSettings) -> ServedRemotely:
    """Return a model with its pools apart."""
    upstreams = served.pool.upstreams.values()
    tiers = {
        pool.name: replace(
            served, tier=pool, pool=Pool([one for one in upstreams if one.settings.pool == pool.name], served.info)
        )
        for pool in settings.pools
    }
    return replace(served, tiers=MappingProxyType(tiers))


def _bucket(asked: Bucket | None, buckets: tuple[Bucket, ...]) -> Bucket | None:
    if asked in buckets or not buckets:
        return asked if asked in buckets else None
    return buckets[-1]
