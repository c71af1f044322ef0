"""Where a proposed policy starts: numbers that no curve gives, on the careful side until traffic says otherwise."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from unmask.policy.policy import AtCap, ControlPolicy, Preference


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassStart:
    """A service class before there is any traffic; its cap is the largest bucket: nothing is taken from anyone."""

    name: str
    prefers: Preference
    at_cap: AtCap
    re_expansions: int
    re_expansion_factor: float


INTERACTIVE = ClassStart(
    name="interactive",
    prefers=Preference.DEADLINE,
    at_cap=AtCap.TRUNCATE,
    re_expansions=1,
    re_expansion_factor=2.0,
)
"""Somebody waits: an answer as it stands is worth more than none, and one more attempt is all the wait there is."""
BATCH = ClassStart(
    name="batch", prefers=Preference.QUALITY, at_cap=AtCap.TRUNCATE, re_expansions=2, re_expansion_factor=2.0
)
"""Nobody waits: two attempts, each with twice the steps."""
CONTROL = ControlPolicy(fraction=0.02, young_fraction=0.10, young_until=2000)
"""One request in ten is a control until 2,000 have been drawn for a task type, one in fifty after.

878 of them would bear three errors under an upper bound of 1 %.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Starting values of a proposal; each ends up in the policy file, where it is changed with approval.

    Attributes:
        alpha: 1 in 100 requests may be wrong for its bucket; ``alphas`` of task types for which that was changed.
        learnt: quality below which a task type counts as not learnt: no budget helps it, so none is taken from it.
    """

    alpha: float = 0.01
    alphas: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    learnt: float = 0.5
    classes: tuple[ClassStart, ...] = (INTERACTIVE, BATCH)
    control: ControlPolicy = CONTROL
