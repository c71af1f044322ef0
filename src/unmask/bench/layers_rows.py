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
from unmask.engine.network import Shape
from unmask.engine.precision import precision_fault
from unmask.errors import UnmaskError
from unmask.types import Precision

TIERS = (Precision.BFLOAT16, Precision.INT8, Precision.INT4)


def rows_for(shape: Shape) -> tuple[LayerRow, ...]:
    """Return the rows that can be measured here on a network: engine, then service, model and business, then all."""
    tiers = [PrecisionTier(precision) for precision in TIERS if precision_fault(precision, shape) is None]
    return (
        BusyShare(),
        FirstText(),
        MemorySaving(),
        RoutingCostSaving(),
        CacheSaving(),
        PrefixHitRate(),
        *tiers,
        SpeculationSpeedup(),
        WastedOutputSaving(),
        PromptTokensSaving(),
        AllLayers(),
    )


def rows_named(name: str | None, shape: Shape) -> tuple[LayerRow, ...]:
    """Return one row, or all.

    Raises:
        UnmaskError: there is no such row, or it cannot be measured here.
    """
    rows = rows_for(shape)
    found = tuple(row for row in rows if name in {None, row.name})
    if not found:
        allowed = ", ".join(row.name for row in rows)
        raise UnmaskError(f"--row is {name!r}, allowed: {allowed}; leave it out for all of them")
    return found
