"""Which positions a denoise step reveals: the choice of a strategy, as requests and policies carry it."""

from dataclasses import dataclass
from enum import StrEnum

LOW_CONFIDENCE_WINDOW = 5
"""So narrow that a canvas is filled nearly in reading order, which the surest positions alone spoil."""


class StrategyName(StrEnum):
    """Which positions a denoise step reveals; each is described where it is implemented."""

    LOW_CONFIDENCE = "low_confidence"
    CONFIDENCE_THRESHOLD = "confidence_threshold"
    ENTROPY_BOUND = "entropy_bound"
    KLASS = "klass"
    PROPHET = "prophet"
    REMASK = "remask"
    FINALITY = "finality"

    @property
    def needs_model(self) -> bool:
        """Whether it works only with something learnt: a name alone does not choose it."""
        return self is StrategyName.FINALITY

    @property
    def has_bounded_threshold(self) -> bool:
        """Whether the threshold is a probability; that of the others is in nats and has no upper end."""
        return self not in {StrategyName.ENTROPY_BOUND, StrategyName.PROPHET}


NAMED_STRATEGIES = tuple(name for name in StrategyName if not name.needs_model)
"""What a name alone chooses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenUnit:
    """A unit between features and score: the larger of 0 and a weighted sum of features."""

    weights: tuple[float, ...]
    bias: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalityModel:
    """A learned score per position: the probability that its draft token is what the full run ends with.

    Attributes:
        version: digest of what was learnt; apart from the model's.
        centre: what is subtracted from each of `unmask.policy.finality.FEATURES`, in their order.
        scale: what each is divided by afterwards.
        hidden: units between features and score; empty for a logistic score of the features themselves.
        weights: log-odds per unit of each feature, or of each hidden unit where there are any.
        bias: log-odds where all of these are 0.
        threshold: least probability to reveal at, unless a choice says otherwise.
    """

    version: str
    centre: tuple[float, ...]
    scale: tuple[float, ...]
    hidden: tuple[HiddenUnit, ...] = ()
    weights: tuple[float, ...]
    bias: float
    threshold: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyChoice:
    """A strategy with its threshold and window; ``None`` is the strategy's own default.

    Attributes:
        window: how many positions, the leftmost candidates, a step chooses among; more where its quota asks for more.
        finality: what `StrategyName.FINALITY` goes by, and nothing else reads it.
    """

    name: StrategyName = StrategyName.LOW_CONFIDENCE
    threshold: float | None = None
    window: int | None = None
    finality: FinalityModel | None = None

    @property
    def effective_window(self) -> int | None:
        """How many candidates it chooses among; ``None``: all, as the papers have it."""
        if self.window is None and self.name is StrategyName.LOW_CONFIDENCE:
            return LOW_CONFIDENCE_WINDOW
        return self.window
