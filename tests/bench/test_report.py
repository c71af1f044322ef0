"""Targets are judged by the unfavourable end."""

import json
from io import StringIO

import pytest
from rich.console import Console

from unmask.bench.report import BenchReport, Figure, MustReach, Op, Record, measured, record_lines, target, to_json
from unmask.bench.table import print_report
from unmask.stats import wilson
from unmask.types import Precision


@pytest.mark.parametrize(
    ("op", "low", "high", "holds"),
    [
        (Op.AT_LEAST, 0.89, 0.99, False),
        (Op.AT_LEAST, 0.90, 0.99, True),
        (Op.AT_MOST, 0.50, 0.91, False),
        (Op.AT_MOST, 0.50, 0.90, True),
    ],
)
def test_the_unfavourable_end_decides(op: Op, low: float, high: float, *, holds: bool) -> None:
    """A value on the right side of its target is not enough: the interval's end must be."""
    assert target(Figure(name="f", value=0.9, low=low, high=high), op, 0.9).holds is holds


def test_without_an_interval_a_sampled_target_is_not_met() -> None:
    """Not enough data has no bound and meets nothing."""
    entry = target(measured("f", wilson(0, 0), fallback=1.0), Op.AT_LEAST, 0.5)

    assert (entry.bound, entry.holds) == (None, False)


def test_a_count_without_sampling_error_is_its_own_bound() -> None:
    """What was counted, not sampled, is judged by its value."""
    assert target(Figure(name="leaks", value=0), Op.EQUAL, 0, sampled=False).holds
    assert not target(Figure(name="leaks", value=1), Op.EQUAL, 0, sampled=False).holds


def test_the_report_is_one_json_object() -> None:
    """Machine, commit, digest and seed are kept beside figures and targets."""
    report = BenchReport(
        name="engine",
        model="tiny",
        model_digest="d",
        precision=Precision.FLOAT32,
        seed=3,
        quick=True,
        figures=(Figure(name="f", value=1.0, n=4),),
        must_reach=(MustReach(name="f", value=1.0, bound=None, op=Op.AT_LEAST, target=2.0),),
        records=(),
    )
    kept = json.loads(to_json(report))

    assert {"machine", "commit", "model_digest", "precision", "seed", "figures", "must_reach"} <= set(kept)
    assert kept["must_reach"] == [{"name": "f", "value": 1.0, "bound": None, "op": ">=", "target": 2.0, "holds": False}]


def test_numbers_are_whole_in_80_columns() -> None:
    """Though names and notes are long."""
    figures = (
        Figure(
            name="diffusion_requests_per_s_vs_autoregressive_at_64",
            value=0.123456,
            low=0.1111,
            high=0.2222,
            note="x " * 60,
        ),
        Figure(name="short", value=1234, unit="ms"),
    )
    report = BenchReport(
        name="gate",
        model="tiny",
        model_digest="d",
        precision=Precision.FLOAT32,
        seed=3,
        quick=False,
        figures=figures,
        must_reach=(
            MustReach(
                name="hallucination_naive_lower_minus_ours_upper", value=0.01667, bound=None, op=Op.AT_LEAST, target=2.0
            ),
        ),
        records=(),
    )
    out = StringIO()
    print_report(report, Console(file=out, width=80))
    text = out.getvalue()

    for number in ("0.1235", "0.1111 – 0.2222", "1234 ms", "0.01667", "not enough data"):
        assert number in text
    assert "…" not in text


def test_records_are_one_line_an_item_and_arm() -> None:
    """Anyone can recompute the figures from them."""
    record = Record(item="i", arm="a", task="sort", difficulty="length=3", steps=2, seconds=0.5, correct=True)
    lines = record_lines([record, record]).splitlines()

    assert len(lines) == 2
    assert json.loads(lines[0])["correct"] is True
