"""What a tenant's traffic is like, hour by hour."""

import heapq
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

HOUR_S = 3_600


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A request that was served.

    Attributes:
        begun: when it arrived, in seconds since 1970.
        seconds: from then to its end.
        prompt_tokens: length of its prompt.
        steps: denoise steps that it took.
    """

    tenant: str
    service_class: str
    begun: float
    seconds: float
    prompt_tokens: int
    steps: int


FEATURES = ("requests", "at_once", "prompt_tokens", "steps")
"""What is looked at: requests of an hour, the most of them at the same time, and the mean length and steps of one.

Whoever waits for an answer sends one request and reads it; a batch sends many at once, hour after hour.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hour:
    """An hour in which a tenant sent requests of a class; ``features`` as in `FEATURES`, each as log(1 + x)."""

    tenant: str
    service_class: str
    features: tuple[float, ...]


def hours_of(traffic: Iterable[Served]) -> tuple[Hour, ...]:
    """Return the hours of all tenants and classes; a request counts in the hour that it arrives in.

    Hours are the unit, and not requests: requests of one burst tell the same thing many times.
    """
    grouped: dict[tuple[str, str, int], list[Served]] = defaultdict(list)
    for request in traffic:
        grouped[request.tenant, request.service_class, int(request.begun // HOUR_S)].append(request)
    return tuple(
        Hour(tenant=tenant, service_class=name, features=_features(requests))
        for (tenant, name, _), requests in sorted(grouped.items())
    )


def _features(requests: Sequence[Served]) -> tuple[float, ...]:
    count = len(requests)
    raw = (
        count,
        _most_at_once(requests),
        sum(request.prompt_tokens for request in requests) / count,
        sum(request.steps for request in requests) / count,
    )
    return tuple(math.log1p(value) for value in raw)


def _most_at_once(requests: Sequence[Served]) -> int:
    running: list[float] = []
    most = 0
    for request in sorted(requests, key=lambda one: one.begun):
        while running and running[0] <= request.begun:
            heapq.heappop(running)
        heapq.heappush(running, request.begun + request.seconds)
        most = max(most, len(running))
    return most
