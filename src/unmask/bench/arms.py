"""The arms of the engine bench: one workload, one set of weights, different engines."""

from dataclasses import dataclass, replace
from typing import assert_never

from unmask.bench.bench import Bench
from unmask.bench.lockstep import LockstepRunner
from unmask.bench.meter import MeteredRunner
from unmask.bench.reference import ReferenceRunner
from unmask.core.core import Core
from unmask.engine.runner import RowRunner, Runner
from unmask.local.model import make_core
from unmask.sched.settings import SchedSettings
from unmask.service import Batching
from unmask.types import Precision

MAIN = "engine"
REFERENCE = "reference"
LOCKSTEP = "lockstep"
BASE = SchedSettings(max_rows=16)
NO_REUSE = replace(BASE, prefix_cache=False, fused_prefill=False, fused_commit=False, chunked_prefill=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """How an arm schedules, in which precision, and whether its forward is that of published sample code.

    ``is_lockstep``: rows that wait for others of their batch are computed too.
    """

    name: str
    precision: Precision
    settings: SchedSettings = BASE
    is_reference: bool = False
    is_lockstep: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """A named core with a meter on its forward."""

    name: str
    core: Core
    meter: MeteredRunner


def alternatives(precision: Precision) -> tuple[Alternative, ...]:
    """Return every arm in one precision, then engine and reference in the other."""
    settings = {
        MAIN: BASE,
        LOCKSTEP: replace(NO_REUSE, batching=Batching.ALIGNED),
        "no_prefix_cache": replace(BASE, prefix_cache=False),
        "no_fused_commit": replace(BASE, fused_commit=False),
        "no_chunked_prefill": replace(BASE, chunked_prefill=False),
        "batch_1": replace(BASE, max_rows=1),
        "batch_4": replace(BASE, max_rows=4),
        "batch_32": replace(BASE, max_rows=32),
    }
    side = other(precision)
    return (
        *(
            Alternative(name=name, precision=precision, settings=chosen, is_lockstep=name == LOCKSTEP)
            for name, chosen in settings.items()
        ),
        _reference(REFERENCE, precision),
        Alternative(name=side, precision=side),
        _reference(f"{REFERENCE}_{side}", side),
    )


def other(precision: Precision) -> Precision:
    """Return the precision that is measured beside this one."""
    match precision:
        case Precision.FLOAT32:
            return Precision.BFLOAT16
        case Precision.BFLOAT16 | Precision.INT8 | Precision.INT4:
            return Precision.FLOAT32
        case _:
            assert_never(precision)


def make_arm(alternative: Alternative, bench: Bench) -> Arm:
    """Build an arm; every call starts with an empty cache."""
    settings, network = alternative.settings, bench.model.network
    make = ReferenceRunner if alternative.is_reference else Runner
    inner: RowRunner = make(
        network, pages=settings.pages, page_size=settings.page_size, precision=alternative.precision
    )
    meter = MeteredRunner(inner, network, bench.clock)
    runner: RowRunner = LockstepRunner(meter) if alternative.is_lockstep else meter
    core = make_core(runner, bench.tokenizer.token_bytes, settings, bench.clock)
    return Arm(name=alternative.name, core=core, meter=meter)


def main_arm(bench: Bench) -> Arm:
    """Build the engine as it serves."""
    return make_arm(Alternative(name=MAIN, precision=bench.precision), bench)


def _reference(name: str, precision: Precision) -> Alternative:
    return Alternative(name=name, precision=precision, settings=replace(NO_REUSE, max_rows=1), is_reference=True)
