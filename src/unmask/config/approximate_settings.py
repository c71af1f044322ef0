"""Settings of approximate caches: their types, what they allow and what they mean."""

from typing import Annotated

from unmask.config.rules import Group, OneOf, Range, Setting
from unmask.types import ApproximateCache

ApproximateCacheChoice = Annotated[
    ApproximateCache,
    Setting(
        Group.SAVINGS,
        OneOf(ApproximateCache),
        "Whether checkpoints whose positions all see all (LLaDA, Dream) keep keys and values from step to step, which "
        "changes answers: of what stands before a canvas, or of the masks behind it too.",
    ),
]

ApproximateCacheRefresh = Annotated[
    int | None,
    Setting(
        Group.SAVINGS,
        Range(1, 1_024),
        "Steps of a canvas after which an approximate cache is computed anew; with 1 answers are as without it.",
        empty="at the first step of each canvas alone",
    ),
]
