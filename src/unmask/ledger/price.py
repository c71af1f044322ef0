"""What steps and prefill cost, in whole micro-units of money."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

ANY = "*"
CACHE = "cache"
"""Purpose of an attempt that gives an earlier answer again."""
UNIT = 1_000_000
"""Prices are for so many tokens, so that a fraction of a micro-unit for one of them is a whole number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a model costs in a class; `ANY` stands for every one that has no price of its own.

    Attributes:
        token_step: micro-units for `UNIT` canvas tokens forwarded by a denoise step.
        prefill_token: micro-units for `UNIT` tokens prefilled.
        cache_hit: micro-units for an answer from the cache; never more than what was reserved to generate it.
    """

    model: str = ANY
    service_class: str = ANY
    token_step: int
    prefill_token: int
    cache_hit: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceBook:
    """All prices of one version; a price that changes makes another version."""

    version: str
    prices: tuple[Price, ...]

    def price(self, model: str, service_class: str) -> Price | None:
        """Return the price that names most: model and class, then the model, then the class, then neither."""
        for wanted in ((model, service_class), (model, ANY), (ANY, service_class), (ANY, ANY)):
            for price in self.prices:
                if (price.model, price.service_class) == wanted:
                    return price
        return None

    def price_of_attempt(self, attempt: str, request: str, service_class: str) -> Price | None:
        """Return the price of the model that ran an attempt, or of its request's where it has none of its own.

        A request without a price has none for any attempt.
        """
        own = self.price(request, service_class)
        return own and (self.price(attempt or request, service_class) or own)


FREE = PriceBook(version="free", prices=(Price(token_step=0, prefill_token=0),))
"""Nothing costs anything: the prices of a server that was given none."""


def cost_of(price: Price, token_steps: int, prefill_tokens: int) -> int:
    """Return micro-units, rounded down: the costs of attempts never add up to more than was reserved."""
    return (token_steps * price.token_step + prefill_tokens * price.prefill_token) // UNIT


class Taken(Protocol):
    """What an attempt was for and took, as it was settled or as the ledger has it."""

    @property
    def purpose(self) -> str:
        """A `Purpose`."""
        ...

    @property
    def token_steps(self) -> int:
        """Canvas tokens that its steps forwarded."""
        ...

    @property
    def prefill_tokens(self) -> int:
        """Tokens prefilled."""
        ...


def costs_of(prices: Sequence[Price | None], attempts: Sequence[Taken], reserved: int) -> list[int | None]:
    """Return micro-units for each of a request's attempts by its own price; without a price there is no cost.

    An answer from the cache costs what the price says of one, up to what the others leave of the reservation: giving
    an answer again never costs more than generating it may.
    """
    pairs = list(zip(prices, attempts, strict=True))
    ran = [
        None if price is None else cost_of(price, attempt.token_steps, attempt.prefill_tokens)
        for price, attempt in pairs
    ]
    left = max(0, reserved - sum(cost or 0 for cost in ran))
    costs: list[int | None] = []
    for (price, attempt), cost in zip(pairs, ran, strict=True):
        if price is None or cost is None:
            costs.append(None)
            continue
        hit = min(price.cache_hit, left) if attempt.purpose == CACHE else 0
        left -= hit
        costs.append(cost + hit)
    return costs


def most_of(price: Price, token_steps: int, prefill_tokens: int) -> int:
    """Return micro-units, rounded up, for a reservation."""
    return -(-(token_steps * price.token_step + prefill_tokens * price.prefill_token) // UNIT)
