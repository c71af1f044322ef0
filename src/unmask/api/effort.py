"""``reasoning_effort``: a word for a step budget, where the client does not count steps."""

from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction
from math import ceil
from types import MappingProxyType

from unmask.backend import ModelInfo
from unmask.types import Bucket


class Effort(StrEnum):
    """The words of the OpenAI API, least effort first."""

    NONE = "none"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


BUCKETS: Mapping[Effort, Bucket] = MappingProxyType(
    {
        Effort.NONE: Bucket.XS,
        Effort.MINIMAL: Bucket.XS,
        Effort.LOW: Bucket.S,
        Effort.MEDIUM: Bucket.M,
        Effort.HIGH: Bucket.L,
        Effort.XHIGH: Bucket.XL,
        Effort.MAX: Bucket.XL,
    }
)

SHARES: Mapping[Bucket, Fraction] = MappingProxyType(
    {
        Bucket.XS: Fraction(1, 8),
        Bucket.S: Fraction(1, 4),
        Bucket.M: Fraction(1, 2),
        Bucket.L: Fraction(3, 4),
        Bucket.XL: Fraction(1),
    }
)
"""What part of a model's default steps a bucket is, as long as no policy says otherwise."""


def bucket_steps(bucket: Bucket, model: ModelInfo, canvas_length: int | None) -> int:
    """Return the ``max_steps`` of a bucket: its share of the default steps of such a canvas, rounded up."""
    return ceil(SHARES[bucket] * model.default_steps_of(canvas_length))
