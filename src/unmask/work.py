"""What an engine has done since it started: sums that its load carries, and what its pages were held for."""

from bisect import bisect_left
from dataclasses import dataclass, replace
from enum import StrEnum
from operator import add

FORWARD_BOUNDS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
"""Upper bounds of forward times, in seconds; slower ones are counted behind the last."""
GROWTH_BOUNDS = (64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072)
"""Upper bounds of conversation lengths, in tokens; longer ones are counted behind the last."""


class PageAlert(StrEnum):
    """How near an engine's KV pages are to being all in use: which watermark was reached and not yet left."""

    NONE = "none"
    HIGH = "high"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineWork:
    """Forwards that ended well.

    Attributes:
        forwards: how many.
        rows: rows of all of them.
        tokens: tokens of these rows, without what rows are padded with.
        seconds: what they took, together.
        times: how many took how long, by `FORWARD_BOUNDS_S`.
    """

    forwards: int = 0
    rows: int = 0
    tokens: int = 0
    seconds: float = 0.0
    times: tuple[int, ...] = (0,) * (len(FORWARD_BOUNDS_S) + 1)

    def after(self, rows: int, tokens: int, seconds: float) -> "EngineWork":
        """Return the sums with one more forward."""
        return EngineWork(
            forwards=self.forwards + 1,
            rows=self.rows + rows,
            tokens=self.tokens + tokens,
            seconds=self.seconds + seconds,
            times=_one_more(self.times, bisect_left(FORWARD_BOUNDS_S, seconds)),
        )

    def __add__(self, other: "EngineWork") -> "EngineWork":
        """Return the sums of two engines."""
        return EngineWork(
            forwards=self.forwards + other.forwards,
            rows=self.rows + other.rows,
            tokens=self.tokens + other.tokens,
            seconds=self.seconds + other.seconds,
            times=tuple(map(add, self.times, other.times)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowthBand:
    """Completed generations of about the same length, prompt and output together.

    Attributes:
        generations: how many.
        tokens: their lengths, together.
        kv_tokens: tokens whose KV was kept at their end, together: all but the last canvas.
        pages: pages that they held, together; those reserved for their worst case, shared ones included.
    """

    generations: int = 0
    tokens: int = 0
    kv_tokens: int = 0
    pages: int = 0

    def __add__(self, other: "GrowthBand") -> "GrowthBand":
        """Return the sums of two engines."""
        return GrowthBand(
            generations=self.generations + other.generations,
            tokens=self.tokens + other.tokens,
            kv_tokens=self.kv_tokens + other.kv_tokens,
            pages=self.pages + other.pages,
        )


Growth = tuple[GrowthBand, ...]
"""A band for each of `GROWTH_BOUNDS`, and one for what is longer."""
NO_GROWTH: Growth = (GrowthBand(),) * (len(GROWTH_BOUNDS) + 1)


def grown(growth: Growth, *, length: int, kv_tokens: int, pages: int) -> Growth:
    """Return what generations held, with one more of them."""
    index = bisect_left(GROWTH_BOUNDS, length)
    band = growth[index]
    larger = replace(
        band,
        generations=band.generations + 1,
        tokens=band.tokens + length,
        kv_tokens=band.kv_tokens + kv_tokens,
        pages=band.pages + pages,
    )
    return (*growth[:index], larger, *growth[index + 1 :])


def _one_more(counts: tuple[int, ...], index: int) -> tuple[int, ...]:
    return (*counts[:index], counts[index] + 1, *counts[index + 1 :])
