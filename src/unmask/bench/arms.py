"""The arms of the engine bench: one workload, one set of weights, different engines."""

from dataclasses import dataclass, replace

from unmask.bench.meter import MeteredRunner
from unmask.bench.reference import ReferenceRunner
from unmask.clock import Clock
from unmask.core.core import Core
from unmask.engine.runner import RowRunner, Runner
from unmask.engine.weights import LoadedModel
from unmask.local.model import make_core
from unmask.sched.settings import SchedSettings
from unmask.text.tokenizer import TextTokenizer

MAIN = "engine"
REFERENCE = "reference"
LOCKSTEP = "lockstep"
BASE = SchedSettings(max_rows=16)
NO_REUSE = replace(BASE, prefix_cache=False, fused_prefill=False, fused_commit=False, chunked_prefill=False)

SETTINGS: tuple[tuple[str, SchedSettings], ...] = (
    (MAIN, BASE),
    (LOCKSTEP, replace(NO_REUSE, lockstep=True)),
    (REFERENCE, replace(NO_REUSE, max_rows=1)),
    ("no_prefix_cache", replace(BASE, prefix_cache=False)),
    ("no_fused_commit", replace(BASE, fused_commit=False)),
    ("no_chunked_prefill", replace(BASE, chunked_prefill=False)),
    ("batch_1", replace(BASE, max_rows=1)),
    ("batch_4", replace(BASE, max_rows=4)),
    ("batch_32", replace(BASE, max_rows=32)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """A named core with a meter on its forward."""

    name: str
    core: Core
    meter: MeteredRunner


def make_arm(name: str, settings: SchedSettings, model: LoadedModel, tokenizer: TextTokenizer, clock: Clock) -> Arm:
    """Build an arm; every call starts with an empty cache."""
    inner: RowRunner
    if name == REFERENCE:
        inner = ReferenceRunner(model.network, pages=settings.pages, page_size=settings.page_size)
    else:
        inner = Runner(model.network, pages=settings.pages, page_size=settings.page_size)
    meter = MeteredRunner(inner, model.network, clock)
    return Arm(name=name, core=make_core(meter, tokenizer.token_bytes, settings, clock), meter=meter)
