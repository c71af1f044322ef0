"""A decision for machines."""

import math

from unmask.gate.report_words import bound_to
from unmask.gate.verdict import GateReport, Paired, RowResult
from unmask.stats import Interval


def report_record(report: GateReport) -> dict[str, object]:
    """Return a decision as one JSON object; an end beyond all values is null."""
    return {
        "verdict": report.verdict.value,
        "exploratory": report.look.exploratory,
        "look": report.look.number,
        "confidence": report.look.confidence,
        "rows": [_row(result) for result in report.rows],
        "warnings": list(report.warnings),
        "policy": [system.policy for system in report.binding.systems],
        "bound_to": dict(bound_to(report)),
    }


def interval_json(interval: Interval | None) -> dict[str, float | None] | None:
    """Return an interval as JSON."""
    if interval is None:
        return None
    high = None if math.isinf(interval.high) else interval.high
    return {"estimate": interval.estimate, "low": interval.low, "high": high}


def _row(result: RowResult) -> dict[str, object]:
    row, counts = result.row, result.counts
    return {
        "name": row.name,
        "metric": row.metric.value,
        "statistic": row.statistic.value,
        row.bound.value: row.threshold,
        "reason": row.reason,
        "kinds": [kind.value for kind in row.kinds],
        "verdict": result.verdict.value,
        "why": result.why,
        "interval": interval_json(result.interval),
        "method": result.method,
        "unit": f"{result.row.unit}s",
        "units": counts.units,
        "answers": counts.answers,
        "unscored": counts.unscored,
        "most_unscored": row.most_unscored,
        "needed": result.needed,
        "can_pass": result.can_pass,
        "shown_only": {"design_effect": interval_json(result.design_effect)},
        "against": interval_json(result.against),
        "paired": _paired(result.paired),
        "margin": row.margin,
    }


def _paired(paired: Paired | None) -> dict[str, object] | None:
    if paired is None:
        return None
    return {
        "difference": interval_json(paired.difference),
        "non_inferior": None if paired.verdict is None else paired.verdict.value,
        "mcnemar": {
            "clusters": _mcnemar(paired.clusters, paired.clusters_p),
            "scenarios": _mcnemar(paired.scenarios, paired.scenarios_p),
        },
    }


def _mcnemar(alone: tuple[int, int], p: float) -> dict[str, object]:
    return {"model_alone": alone[0], "against_alone": alone[1], "p": p}
