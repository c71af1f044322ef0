"""What may be saved: a name, what is spared, and the quality that is measured beside it on the same items."""

from dataclasses import dataclass
from enum import StrEnum


class Layer(StrEnum):
    """Where a saving is made; in this order they are worth looking at."""

    ENGINE = "engine"
    SERVICE = "service"
    MODEL = "model"
    BUSINESS = "business"


class Reading(StrEnum):
    """How a bench tells a saving; kept is always the share that is saved.

    ``saved``: that share. ``remaining``: what is left of 1. ``speedup``: how many times as quick.
    ``counted``: that share, told without an interval, since it is not sampled.
    """

    SAVED = "saved"
    REMAINING = "remaining"
    SPEEDUP = "speedup"
    COUNTED = "counted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Saving:
    """One way to spend less, which may be used only where its quality is known.

    Attributes:
        saves: what there is less of, as a noun; the unit of a figure is the share of it that is saved.
        quality: the metric told beside it: a difference, with minus without, on the same items.
        bench: which `unmask bench` measures both; ``options`` it takes besides.
        saved_figure, quality_figure: names of these in its results.
        reading: how ``saved_figure`` is to be read.
        is_exact: whether answers are the same by construction, which a test shows; the difference is measured too.
    """

    name: str
    layer: Layer
    saves: str
    quality: str
    bench: str
    saved_figure: str
    quality_figure: str
    reading: Reading = Reading.SAVED
    is_exact: bool = False
    options: str = ""

    @property
    def command(self) -> str:
        """What measures it and keeps its figure."""
        return f"unmask bench {self.bench}{self.options} --json > FILE, then unmask savings keep FILE"
