"""Cores over a tiny network or a fake engine, and what drives them."""

from collections.abc import Sequence as Items

from unmask.clock import Clock
from unmask.core.core import Core
from unmask.engine.adapter import Adapter
from unmask.engine.engine import Engine
from unmask.engine.network import Network
from unmask.engine.runner import Runner
from unmask.local.model import make_core_over
from unmask.plan import PlanRunner
from unmask.sched.ending import TokenBytes
from unmask.sched.settings import SchedSettings
from unmask.sequence import Sequence, Submission
from unmask.testing.listeners import RecordingListener
from unmask.testing.manual_clock import ManualClock
from unmask.testing.networks import TINY_ADAPTER, letter


def make_engine(network: Network, settings: SchedSettings, adapter: Adapter = TINY_ADAPTER) -> Engine:
    """Return an engine over a network."""
    return Engine(Runner(network, pages=settings.pages, page_size=settings.page_size), adapter)


def make_core(
    engine: PlanRunner,
    settings: SchedSettings,
    *,
    queue_limit: int = 10_000,
    adapter: Adapter = TINY_ADAPTER,
    token_bytes: TokenBytes = letter,
    clock: Clock | None = None,
) -> Core:
    """Return a core whose clock stands still, unless another is given."""
    return make_core_over(
        engine, token_bytes, settings, clock or ManualClock(), queue_limit=queue_limit, adapter=adapter
    )


def run_all(core: Core, submissions: Items[Submission]) -> list[Sequence]:
    """Submit everything at once, tick until all have ended, and return the sequences in the order submitted."""
    listeners = [RecordingListener() for _ in submissions]
    for submission, listener in zip(submissions, listeners, strict=True):
        core.submit(submission, listener)
    while not core.is_idle:
        core.tick()
    return [listener.endings[0] for listener in listeners]
