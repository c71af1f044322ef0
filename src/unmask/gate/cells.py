"""Marks laid out for one row: a cell for each scenario and seed, and what clusters make of them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from unmask.gate.gate_file import Bound, Row, Statistic
from unmask.gate.response import ResponseKey, SystemLabel
from unmask.gate.score import Metric, Scored
from unmask.gate.verdict import Counts
from unmask.stats import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One answer's mark as a row reads it; ``None`` where it has none, whatever the cause."""

    cluster: str
    scenario: str
    seed: int
    value: float | None


def cells_of(row: Row, scored: Sequence[Scored], system: SystemLabel, seeds: Sequence[int]) -> tuple[Cell, ...]:
    """Return a cell for each scenario that a row is about and each seed; what was never answered is there too.

    A row is about a scenario if any answer to it has the metric. One of which no answer has any mark, since the
    infrastructure failed each time, is taken for its kind.
    """
    about = _scenarios(row, scored)
    marks = {item.key: _mark(item, row.metric) for item in scored}
    return tuple(
        Cell(cluster=cluster, scenario=scenario, seed=seed, value=None if mark is None else read_mark(row, mark))
        for scenario, cluster in about.items()
        for seed in seeds
        for mark in (marks.get(ResponseKey(scenario=scenario, seed=seed, system=system)),)
    )


def counts_of(cells: Sequence[Cell], units: int) -> Counts:
    """Count answers, and those without a mark."""
    return Counts(units=units, answers=len(cells), unscored=sum(cell.value is None for cell in cells))


def cluster_means(cells: Iterable[Cell], unscored: float | None) -> dict[str, float]:
    """Return the mean of each cluster with ``unscored`` in place of missing marks; ``None`` leaves them out."""
    return _means(((cell.cluster, cell.value) for cell in cells), unscored)


def scenario_means(cells: Iterable[Cell], unscored: float | None) -> dict[str, float]:
    """Return the mean of each scenario as `cluster_means`."""
    return _means(((cell.scenario, cell.value) for cell in cells), unscored)


def one_a_scenario(cells: Sequence[Cell]) -> tuple[float | None, ...]:
    """Return one value a scenario, by turns of another seed.

    A percentile is of single answers: a mean or the slowest over seeds would be of something else, and all of them
    would not be independent.
    """
    by_scenario: defaultdict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        by_scenario[cell.scenario].append(cell)
    return tuple(by_scenario[name][number % len(by_scenario[name])].value for number, name in enumerate(by_scenario))


def values_of(means: dict[str, float]) -> Floats:
    """Return means in the order of their names."""
    return np.array([means[name] for name in sorted(means)], dtype=np.float64)


def _means(named: Iterable[tuple[str, float | None]], unscored: float | None) -> dict[str, float]:
    found: defaultdict[str, list[float]] = defaultdict(list)
    for name, value in named:
        filled = unscored if value is None else value
        if filled is not None:
            found[name].append(filled)
    return {name: sum(values) / len(values) for name, values in found.items()}


def _scenarios(row: Row, scored: Sequence[Scored]) -> dict[str, str]:
    """Return the cluster of each scenario that a row is about."""
    asked = [item for item in scored if not row.kinds or item.kind in row.kinds]
    with_metric = {item.key.scenario for item in asked if any(mark.metric is row.metric for mark in item.marks)}
    with_marks = {item.key.scenario for item in asked if item.marks}
    kinds = {item.kind for item in asked if item.key.scenario in with_metric}
    return {
        item.key.scenario: item.cluster
        for item in sorted(asked, key=lambda item: item.key)
        if item.key.scenario in with_metric or (item.key.scenario not in with_marks and item.kind in kinds)
    }


def _mark(item: Scored, metric: Metric) -> float | None:
    return next((mark.value for mark in item.marks if mark.metric is metric), None)


def read_mark(row: Row, value: float) -> float:
    """Return a mark as a row counts it."""
    if row.statistic is not Statistic.RATE:
        return value
    return float(value >= 1) if row.bound is Bound.AT_LEAST else float(value > 0)
