"""The tables of the gate bench's report, out of its figures."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from unmask.bench.ar_load import CONCURRENCY
from unmask.bench.gate_figures import HALLUCINATION, PRECISION
from unmask.bench.gate_journal import Arm
from unmask.bench.gate_latency import BATCH
from unmask.bench.gate_marks import TRAP_ACCEPTED
from unmask.bench.gate_stages import Stage
from unmask.bench.modes import BOTH_MODES
from unmask.bench.report import BenchReport, Figure
from unmask.gate.score import Metric
from unmask.types import Mode

Found = Mapping[str, Figure]
Write = Callable[[float], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of texts, and what whoever reads it should know."""

    title: str
    note: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables_of(report: BenchReport) -> tuple[Table, ...]:
    """Return the tables in the order that they are read in."""
    found = {figure.name: figure for figure in report.figures}
    return (
        _targets(report),
        _signal(found),
        _quality(found),
        _differences(found),
        _further(found),
        _latency(found),
        _load(found),
    )


def _targets(report: BenchReport) -> Table:
    return Table(
        title="Must reach",
        note="The bound is the end of the 95 % interval that speaks against the target.",
        heads=("figure", "measured", "bound", "target", "holds"),
        rows=tuple(
            (
                entry.name,
                f"{entry.value:.4g}",
                "not enough data" if entry.bound is None else f"{entry.bound:.4g}",
                f"{entry.op} {entry.target:g}",
                "yes" if entry.holds else "no",
            )
            for entry in report.must_reach
        ),
    )


def _signal(found: Found) -> Table:
    return Table(
        title="Injected facts and signal density",
        note="Needed facts of all injected, pooled over prompts; recall is the share of needed facts that are there.",
        heads=("stage", "facts a question", "signal density", "recall of needed facts", "their entities"),
        rows=tuple(
            (
                f"{stage.label}: {stage.words}",
                _text(found, f"{stage}.injected_facts", short),
                _text(found, f"{stage}.signal_density", _percent),
                _text(found, f"{stage}.needed_fact_recall", _percent),
                _text(found, f"{stage}.entities_covered", _percent),
            )
            for stage in Stage
        ),
    )


def _quality(found: Found) -> Table:
    return _by_arm(
        found,
        title="Factual precision and hallucination",
        note="Means over clusters. A trap is accepted where the answer states, or agrees to, its false claim.",
        qualities=(PRECISION, HALLUCINATION, TRAP_ACCEPTED, Metric.TRAP_CORRECTED.value),
    )


def _further(found: Found) -> Table:
    return _by_arm(
        found,
        title="Other rows of the gate",
        note="Multi-turn is the share of conversations without a fault in any turn.",
        qualities=(Metric.ENTITY_COVERAGE.value, Metric.PERSONA.value, Metric.MULTI_TURN.value),
    )


def _by_arm(found: Found, *, title: str, note: str, qualities: Sequence[str]) -> Table:
    return Table(
        title=title,
        note=note,
        heads=("stage", "mode", *(quality.replace("_", " ") for quality in qualities)),
        rows=tuple(
            (stage.label, mode.value, *(_text(found, f"{_name(stage, mode)}.{one}", _percent) for one in qualities))
            for stage in Stage
            for mode in BOTH_MODES
        ),
    )


def _differences(found: Found) -> Table:
    return Table(
        title="Diffusion less autoregressive",
        note="The same scenarios and seeds, clusters in pairs; in points of 100.",
        heads=("stage", "factual precision", "hallucination", "trap accepted"),
        rows=tuple(
            (
                stage.label,
                *(
                    _text(found, f"{stage}.diffusion_vs_autoregressive.{quality}", _points)
                    for quality in (PRECISION, HALLUCINATION, TRAP_ACCEPTED)
                ),
            )
            for stage in Stage
        ),
    )


def _latency(found: Found) -> Table:
    stages = [(f"{stage.label}, batch {BATCH}", mode, _name(stage, mode)) for stage in Stage for mode in BOTH_MODES]
    sizes = [
        (f"32 to 96 tokens, batch {size}", mode, f"batch_{size}.{mode}") for size in (1, BATCH) for mode in BOTH_MODES
    ]
    return Table(
        title="Latency",
        note="An answer from its first row to its end; steps are those of one answer, denoising or decoding.",
        heads=("answers", "mode", "p50, ms", "p95, ms", "steps"),
        rows=tuple(
            (
                label,
                mode.value,
                _text(found, f"{name}.latency_p50", _milliseconds),
                _text(found, f"{name}.latency_p95", _milliseconds),
                _text(found, f"{name}.steps", short),
            )
            for label, mode, name in (*stages, *sizes)
        ),
    )


def _load(found: Found) -> Table:
    return Table(
        title="Load",
        note=f"Every client sends its next request as soon as it has its answer. {_crossing(found)}",
        heads=("at once", "mode", "requests/s", "p50, ms", "p95, ms", "GFLOP an answer"),
        rows=tuple(
            (
                str(clients),
                mode.value,
                _text(found, f"{mode}_{clients}.requests_per_s", short),
                _text(found, f"{mode}_{clients}.latency_p50", _milliseconds),
                _text(found, f"{mode}_{clients}.latency_p95", _milliseconds),
                _text(found, f"{mode}_{clients}.gflop_per_answer", short),
            )
            for clients in CONCURRENCY
            for mode in BOTH_MODES
        ),
    )


def _crossing(found: Found) -> str:
    figure = found["autoregressive_overtakes_at_concurrency"]
    if math.isnan(figure.value):
        return f"Where the modes cross cannot be told: {figure.note}."
    at = _written(figure, short)
    return f"Autoregressive decoding serves more requests a second from {at} requests at once on ({figure.note})."


def short(value: float) -> str:
    """Write a value with three digits, or without those behind the point."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _name(stage: Stage, mode: Mode) -> str:
    return Arm(stage=stage, mode=mode).name


def _text(found: Found, name: str, write: Write) -> str:
    return _written(found[name], write) if name in found else ""


def _written(figure: Figure, write: Write) -> str:
    if figure.low is None and figure.high is None:
        return f"{write(figure.value)} (no interval)"
    low, high = ("…" if end is None else write(end) for end in (figure.low, figure.high))
    return f"{write(figure.value)} [{low}, {high}]"


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _points(value: float) -> str:
    return f"{100 * value:+.1f}"


def _milliseconds(value: float) -> str:
    return short(1000 * value)
