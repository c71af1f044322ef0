"""What a saving was measured to save, and the quality that was measured beside it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimated:
    """A value with the ends of its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SavingFigure:
    """One measurement of a saving.

    Attributes:
        saving: its name.
        saved: share of what is spent that it saves; below 0 it costs.
        quality: difference of its quality metric, with minus without, on the same items.
        items: on how many.
        model: name and ``model_digest`` of the weights that it was measured on.
        bench: which one has measured it; ``commit`` of which version, ``machine`` on what.
        seed: of its items.
    """

    saving: str
    saved: Estimated
    quality: Estimated
    items: int
    model: str
    model_digest: str
    bench: str
    commit: str
    machine: str
    seed: int
    measured: str
