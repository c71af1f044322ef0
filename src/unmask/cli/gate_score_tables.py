"""Marks of a run on a terminal, and as a record."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from unmask.cli.intervals import interval_record
from unmask.cli.tools import Tools
from unmask.gate.agreement import Agreement, Coefficient, Figure
from unmask.gate.known_wrong import Outcome
from unmask.gate.response import SystemLabel
from unmask.gate.score import Mark, Metric
from unmask.gate.score_run import ScoredAnswers
from unmask.stats import Interval, IntervalResult, NotEnoughData


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRow:
    """A metric of one system: its mean over marks that there are, and how many are not, and are borderline."""

    system: SystemLabel
    metric: Metric
    marked: int
    mean: float | None
    unscored: int
    borderline: int


def metric_rows(answers: ScoredAnswers) -> tuple[MetricRow, ...]:
    """Return a row for each metric of each system."""
    marks: dict[tuple[SystemLabel, Metric], list[Mark]] = {}
    for one in answers.scored:
        for mark in one.marks:
            marks.setdefault((one.key.system, mark.metric), []).append(mark)
    return tuple(
        _row(system, metric, marks[system, metric])
        for system in SystemLabel
        for metric in Metric
        if (system, metric) in marks
    )


def print_scores(answers: ScoredAnswers, outcomes: Sequence[Outcome], tools: Tools) -> None:
    """Show a row a metric, how judges agree, and how the scorer fared on wrong answers."""
    tools.out.print(_metrics_table(answers))
    if answers.agreement:
        tools.out.print(_agreement_table(answers))
    if outcomes:
        tools.out.print(_outcome_table(outcomes))
    unscored = sum(row.unscored for row in metric_rows(answers))
    tools.say(f"{len(answers.scored)} answers, {unscored} marks unscored; scored by {answers.identity.digest[:12]}")


def score_record(url: str, answers: ScoredAnswers, outcomes: Sequence[Outcome]) -> dict[str, object]:
    """Return the same for machines."""
    return {
        "run": url,
        "scorer": {"digest": answers.identity.digest, **answers.identity.parts},
        "answers": len(answers.scored),
        "metrics": [
            {
                "system": row.system.value,
                "metric": row.metric.value,
                "mean": row.mean,
                "scored": row.marked,
                "unscored": row.unscored,
                "borderline": row.borderline,
            }
            for row in metric_rows(answers)
        ],
        "agreement": {metric.value: _agreement_record(one) for metric, one in answers.agreement.items()},
        "known_wrong": [_outcome_record(outcome) for outcome in outcomes],
    }


def _row(system: SystemLabel, metric: Metric, marks: Sequence[Mark]) -> MetricRow:
    values = [mark.value for mark in marks if mark.value is not None]
    return MetricRow(
        system=system,
        metric=metric,
        marked=len(values),
        mean=sum(values) / len(values) if values else None,
        unscored=len(marks) - len(values),
        borderline=sum(mark.borderline for mark in marks),
    )


def _metrics_table(answers: ScoredAnswers) -> Table:
    table = Table(caption="means of single answers; what they are worth is for unmask gate decide to say")
    for name in ("system", "metric"):
        table.add_column(name)
    for name in ("mean", "scored", "unscored", "borderline"):
        table.add_column(name, justify="right")
    for row in metric_rows(answers):
        mean = "" if row.mean is None else f"{row.mean:.3f}"
        table.add_row(row.system.value, row.metric.value, mean, *map(str, (row.marked, row.unscored, row.borderline)))
    return table


def _agreement_table(answers: ScoredAnswers) -> Table:
    table = Table(title="judges' agreement")
    for name in ("metric", "items", "same", "kappa", "AC1", "alpha"):
        table.add_column(name, justify="left" if name == "metric" else "right", overflow="fold")
    for metric, one in answers.agreement.items():
        figures = map(_figure, (one.kappa, one.ac1, one.alpha))
        table.add_row(metric.value, str(one.items), _coefficient(one.observed), *figures)
    return table


def _outcome_table(outcomes: Sequence[Outcome]) -> Table:
    table = Table(title="answers known to be right or wrong")
    for name in ("by", "metric", "right passed", "wrong caught", "unscored", "which"):
        table.add_column(name, overflow="fold")
    for outcome in outcomes:
        found = outcome.discrimination
        table.add_row(
            outcome.by,
            outcome.metric.value,
            f"{found.passed}/{found.right} {_interval(found.sensitivity)}",
            f"{found.caught}/{found.wrong} {_interval(found.specificity)}",
            str(found.unscored),
            Text("\n".join(f"{mutation}: {caught}/{of}" for mutation, (caught, of) in outcome.caught.items())),
        )
    return table


def _figure(figure: Figure) -> str:
    value = _coefficient(figure.value)
    return f"{value} {_interval(figure.interval)}".strip() if isinstance(figure.value, float) else value


def _coefficient(value: Coefficient) -> str:
    return value.reason if isinstance(value, NotEnoughData) else f"{value:.3f}"


def _interval(interval: IntervalResult) -> str:
    return f"({interval.low:.3f} to {interval.high:.3f})" if isinstance(interval, Interval) else ""


def _agreement_record(one: Agreement) -> dict[str, object]:
    return {
        "items": one.items,
        "observed": _number(one.observed),
        **{name: _figure_record(getattr(one, name)) for name in ("kappa", "ac1", "alpha")},
    }


def _figure_record(figure: Figure) -> dict[str, object]:
    return {"value": _number(figure.value), "interval": interval_record(figure.interval)}


def _number(value: Coefficient) -> float | None:
    return None if isinstance(value, NotEnoughData) else value


def _outcome_record(outcome: Outcome) -> dict[str, object]:
    found = outcome.discrimination
    return {
        "by": outcome.by,
        "metric": outcome.metric.value,
        "right": found.right,
        "passed": found.passed,
        "wrong": found.wrong,
        "caught": found.caught,
        "unscored": found.unscored,
        "sensitivity": interval_record(found.sensitivity),
        "specificity": interval_record(found.specificity),
        "tells_apart": found.tells_apart,
        "mutations": {
            mutation.value: {"caught": caught, "of": of} for mutation, (caught, of) in outcome.caught.items()
        },
    }
