"""What steps and prefill cost, in whole micro-units of money."""

from dataclasses import dataclass

ANY = "*"
UNIT = 1_000_000
"""Prices are for so many tokens, so that a fraction of a micro-unit for one of them is a whole number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a model costs in a class; `ANY` stands for every one that has no price of its own.

    Attributes:
        token_step: micro-units for `UNIT` canvas tokens forwarded by a denoise step.
        prefill_token: micro-units for `UNIT` tokens prefilled.
    """

    model: str = ANY
    service_class: str = ANY
    token_step: int
    prefill_token: int


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


def most_of(price: Price, token_steps: int, prefill_tokens: int) -> int:
    """Return micro-units, rounded up, for a reservation."""
    return -(-(token_steps * price.token_step + prefill_tokens * price.prefill_token) // UNIT)
