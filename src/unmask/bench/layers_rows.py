"""The rows of the layers bench, in the order in which they are run."""

from unmask.bench.layer_row import LayerRow
from unmask.bench.layers_all import AllLayers
from unmask.bench.layers_business import PromptTokensSaving, WastedOutputSaving
from unmask.bench.layers_busy import BusyShare
from unmask.bench.layers_cache import CacheSaving
from unmask.bench.layers_first_text import FirstText
from unmask.bench.layers_memory import MemorySaving
from unmask.bench.layers_precision import PrecisionTier
from unmask.bench.layers_replicas import PrefixHitRate
from unmask.bench.layers_routing import RoutingCostSaving
from unmask.bench.layers_speculation import SpeculationSpeedup
from unmask.errors import UnmaskError
from unmask.types import Precision

ROWS: tuple[LayerRow, ...] = (
    BusyShare(),
    FirstText(),
    MemorySaving(),
    RoutingCostSaving(),
    CacheSaving(),
    PrefixHitRate(),
    *map(PrecisionTier, (Precision.BFLOAT16, Precision.INT8, Precision.INT4)),
    SpeculationSpeedup(),
    WastedOutputSaving(),
    PromptTokensSaving(),
    AllLayers(),
)
"""Engine, then service, model and business, then all of them."""


def rows_named(name: str | None) -> tuple[LayerRow, ...]:
    """Return one row, or all.

    Raises:
        UnmaskError: there is no such row.
    """
    found = tuple(row for row in ROWS if name in {None, row.name})
    if not found:
        allowed = ", ".join(row.name for row in ROWS)
        raise UnmaskError(f"--row is {name!r}, allowed: {allowed}; leave it out for all of them")
    return found
