"""Behaviour of `unmask.gate.gate_file`."""

from pathlib import Path

import pytest

from unmask.gate.decide_errors import GateFileError
from unmask.gate.gate_file import EXAMPLE, MOST_UNSCORED, Bound, Statistic, parse_gate, read_gate
from unmask.gate.scenario import ScenarioKind
from unmask.gate.score import Metric

ROW = """\
rows:
  - name: facts
    metric: factual_precision
    statistic: rate
    at_least: 0.95
    reason: 세계관을 틀리면 플레이어의 신뢰가 깨진다
"""


def test_a_row_is_read_whole() -> None:
    """With what is left out at its default; reasons may be in any script."""
    (row,) = parse_gate(ROW + "    kinds: [fact, trap]\n    margin: 0.02\n").rows

    assert (row.name, row.metric, row.statistic) == ("facts", Metric.FACTUAL_PRECISION, Statistic.RATE)
    assert (row.bound, row.threshold, row.margin) == (Bound.AT_LEAST, 0.95, 0.02)
    assert row.kinds == (ScenarioKind.FACT, ScenarioKind.TRAP)
    assert row.most_unscored == MOST_UNSCORED
    assert row.reason == "세계관을 틀리면 플레이어의 신뢰가 깨진다"


def test_the_example_has_the_rows_of_a_conversation() -> None:
    """Each with a threshold and a reason of its own."""
    rows = {row.name: row for row in read_gate(EXAMPLE).rows}

    assert {name: (row.statistic.value, row.bound.value, row.threshold) for name, row in rows.items()} == {
        "factual_precision": ("rate", "at_least", 0.95),
        "hallucination": ("rate", "at_most", 0.05),
        "latency_p50": ("p50", "at_most", 1.0),
        "latency_p95": ("p95", "at_most", 2.0),
        "entity_coverage": ("mean", "at_least", 0.9),
        "persona": ("mean", "at_least", 0.9),
        "naturalness": ("mean", "at_least", 0.9),
        "multi_turn": ("rate", "at_least", 0.9),
    }
    assert len({row.reason for row in rows.values()}) == len(rows)


@pytest.mark.parametrize(
    ("line", "instead", "says"),
    [
        ("    reason: 세계관을 틀리면 플레이어의 신뢰가 깨진다\n", "", r"g.yaml:2: rows.0.reason is missing"),
        ("세계관을 틀리면 플레이어의 신뢰가 깨진다", '"  .  "', r"g.yaml:6: rows.0.reason .* says why the business"),
        ("at_least: 0.95", "at_least: 0.95\n    at_most: 0.99", r"g.yaml:2: .* either at_least or at_most"),
        ("    at_least: 0.95\n", "", r"g.yaml:2: .* either at_least or at_most"),
        ("at_least: 0.95", "at_most: 0.95", r"g.yaml:2: .* more of factual_precision is better"),
        ("at_least: 0.95", "at_least: 1.0", r"g.yaml:2: .* below 1"),
        ("at_least: 0.95", 'at_least: "0.95"', r"g.yaml:5: rows.0.at_least is '0.95'"),
        ("at_least: 0.95", "at_least: .nan", r"g.yaml:5: "),
        ("at_least: 0.95", "at_least: .inf", r"g.yaml:5: rows.0.at_least is inf"),
        ("at_least: 0.95", "at_lest: 0.95", r"g.yaml:5: rows.0.at_lest is no field, did you mean at_least"),
        ("statistic: rate", "statistic: p95", r"g.yaml:2: .* p50 or p95 for seconds"),
        ("metric: factual_precision", "metric: charm", r"g.yaml:3: rows.0.metric is 'charm'"),
        ("metric: factual_precision", "metric: seconds", r"rate or mean for all else"),
        ("name: facts", "name: two words", r"g.yaml:2: rows.0.name is 'two words'"),
        ("rows:", "cols:", r"g.yaml:1: "),
        ("name: facts", "name: &x facts\n    kinds: [*x]", r"g.yaml:2: an alias"),
    ],
)
def test_a_row_that_does_not_fit_is_refused_with_its_line(line: str, instead: str, says: str) -> None:
    """Named is what is wrong, what is allowed, and where."""
    assert line in ROW
    with pytest.raises(GateFileError, match=says):
        parse_gate(ROW.replace(line, instead), "g.yaml")


@pytest.mark.parametrize("text", ["", "[]", "rows: []", "rows"])
def test_a_gate_without_rows_is_refused(text: str) -> None:
    """It would let everything pass."""
    with pytest.raises(GateFileError):
        parse_gate(text)


def test_two_rows_of_one_name_are_refused() -> None:
    """At the line of the second."""
    with pytest.raises(GateFileError, match=r"gate:7: the row facts is there twice"):
        parse_gate(ROW + ROW.removeprefix("rows:\n"))


def test_a_percentile_has_no_margin() -> None:
    """Percentiles of two systems are not paired."""
    text = ROW.replace("factual_precision", "seconds").replace("rate", "p95").replace("at_least: 0.95", "at_most: 2")
    assert parse_gate(text).rows[0].threshold == 2.0
    with pytest.raises(GateFileError, match="margin"):
        parse_gate(text + "    margin: 0.1\n")


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("신뢰가", "믿음이", True),
        ("0.95", "0.96", False),
        ("rate", "mean", False),
        ("facts", "truth", False),
        ("at_least", "most_unscored: 0.1\n    at_least", False),
        ("at_least", "kinds: [trap]\n    at_least", False),
        ("at_least", "margin: 0.1\n    at_least", False),
    ],
)
def test_digest_is_of_all_that_decides(old: str, new: str, same: bool) -> None:
    """And not of the words of a reason."""
    assert (parse_gate(ROW).digest == parse_gate(ROW.replace(old, new)).digest) is same


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    """Missing, no text, or too large."""
    broken, large = tmp_path / "a.yaml", tmp_path / "b.yaml"
    broken.write_bytes(b"\xff\xfe\xff")
    large.write_bytes(b"#" * ((1 << 20) + 1))

    for path, says in ((tmp_path / "none.yaml", "none.yaml"), (broken, "UTF-8"), (large, "larger")):
        with pytest.raises(GateFileError, match=says):
            read_gate(str(path))
