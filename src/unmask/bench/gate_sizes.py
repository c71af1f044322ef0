"""How much the gate bench measures."""

from dataclasses import dataclass

from unmask.bench.gate_latency import LatencyPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSizes:
    """Numbers of a run.

    Attributes:
        worlds: of the generated suite, of 12 clusters and 60 scenarios each.
        seeds: that every scenario is asked with.
        latency: questions of the comparison at batch 1.
        wave: scenarios of which all arms are asked before the next ones are.
        scenarios: how many are asked, the first ones; ``None`` asks all.
    """

    worlds: int
    seeds: tuple[int, ...]
    latency: LatencyPlan
    wave: int = 32
    scenarios: int | None = None


FULL = GateSizes(worlds=40, seeds=(0, 1, 2), latency=LatencyPlan(questions=240, rounds=3))
"""2,400 scenarios in 480 clusters; of a run that decides."""
QUICK = GateSizes(worlds=1, seeds=(0,), latency=LatencyPlan(questions=12, rounds=1))
"""Of a run that decides nothing and ends within a minute."""
