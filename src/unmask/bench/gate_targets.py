"""The targets of the gate bench, each by the end of its interval that speaks against it."""

from collections.abc import Mapping, Sequence

from unmask.bench.gate_figures import (
    BOTH,
    HALLUCINATION,
    PRECISION,
    ByCluster,
    density,
    pooled_density,
    quotient,
)
from unmask.bench.gate_journal import Arm
from unmask.bench.gate_stages import Stage
from unmask.bench.report import Figure, MustReach, Op, measured, target
from unmask.types import Mode

OURS = Arm(stage=Stage.COMPLETED, mode=Mode.DIFFUSION)
BASELINE = Arm(stage=Stage.NAIVE, mode=Mode.DIFFUSION)
TIMES_THE_DENSITY = 5.0
OF_NEEDED_FACTS = 0.97
PRECISION_MARGIN = -0.02


def density_vs_naive(prompts: Mapping[Stage, ByCluster], stage: Stage, seed: int) -> Figure:
    """Return how many times the baseline's signal density a stage has."""
    ours, naive = prompts[stage], prompts[Stage.NAIVE]
    name = "signal_density_vs_naive" if stage is OURS.stage else f"{stage}.signal_density_vs_naive"
    return measured(
        name,
        quotient(density(ours, seed, BOTH), density(naive, seed, BOTH)),
        fallback=pooled_density(ours) / max(pooled_density(naive), 1e-9),
        n=len(ours),
    )


def less_hallucination(figures: Mapping[str, Figure]) -> Figure:
    """Return by how much the baseline says something false more often; ends are those that lie closest, and widest."""
    naive, ours = (figures[f"{arm.name}.{HALLUCINATION}"] for arm in (BASELINE, OURS))
    return Figure(
        name="hallucination_naive_lower_minus_ours_upper",
        value=naive.value - ours.value,
        low=None if naive.low is None or ours.high is None else naive.low - ours.high,
        high=None if naive.high is None or ours.low is None else naive.high - ours.low,
        n=naive.n,
        note=f"{BASELINE.name} less {OURS.name}, the lower end of one and the upper of the other",
    )


def judge(
    figures: Sequence[Figure],
    prompts: Mapping[Stage, ByCluster],
    latency: Figure,
    load: Sequence[MustReach],
    seed: int,
) -> tuple[tuple[Figure, ...], tuple[MustReach, ...]]:
    """Return the figures that targets are on, and the targets.

    Args:
        figures: of stages, arms and their differences.
        prompts: of every stage.
        latency: how many times as long autoregressive answers take at batch 1.
        load: the targets of the load test.
        seed: of resampling.
    """
    by_name = {figure.name: figure for figure in figures}
    ratio = density_vs_naive(prompts, OURS.stage, seed)
    recall = _renamed(by_name[f"{OURS.stage}.needed_fact_recall"], "needed_fact_recall")
    fewer = less_hallucination(by_name)
    paired = _renamed(by_name[f"{OURS.stage}.diffusion_vs_autoregressive.{PRECISION}"], "precision_diff_lower_bound")
    further = (density_vs_naive(prompts, Stage.HYBRID, seed), ratio, recall, fewer, paired)
    return further, (
        target(ratio, Op.AT_LEAST, TIMES_THE_DENSITY),
        target(recall, Op.AT_LEAST, OF_NEEDED_FACTS),
        target(fewer, Op.ABOVE, 0.0),
        target(latency, Op.AT_LEAST, 2.0),
        *load,
        target(paired, Op.AT_LEAST, PRECISION_MARGIN),
    )


def _renamed(figure: Figure, name: str) -> Figure:
    return Figure(name=name, value=figure.value, low=figure.low, high=figure.high, n=figure.n, note=f"as {figure.name}")
