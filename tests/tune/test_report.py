"""What a run found is shown, drawn and told with its intervals."""

import io
import xml.etree.ElementTree as ET
from pathlib import Path

import orjson
import pytest
from rich.console import Console

from unmask.stats import Interval
from unmask.testing.curves import make_curve, make_curves, make_shares
from unmask.tune.curve import CurveSet
from unmask.tune.errors import CurveRunError
from unmask.tune.picture import save_curve_picture
from unmask.tune.report import landmark_table, point_tables, report_curves, report_json

GRID = (1, 2, 4, 8, 16)
STEEP = make_curves(make_shares((0.1, 0.5, 0.8, 0.965, 0.97), grid=GRID), seed=1)
FLAT = make_curves(make_shares((0.95, 0.95, 0.96, 0.96, 0.96), grid=GRID))
FEW = make_curves(make_curve("0", "1", "1", grid=(1, 4, 8)))


def shown(curves: CurveSet) -> str:
    """Return the tables as text."""
    console = Console(file=io.StringIO(), width=160)
    reports = report_curves(curves, resamples=200)
    for table in (*point_tables(reports), landmark_table(reports)):
        console.print(table)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_tables_give_values_with_intervals() -> None:
    """Quality and latency of every budget, and each landmark with where resampling puts it."""
    text = shown(STEEP)

    assert "96.5% (95.2% – 97.5%)" in text
    assert "4 (4 – 4)" in text
    assert "8 (8 – 8)" in text


def test_few_items_are_said_to_be_few() -> None:
    """One item has a point of quality, and no landmarks."""
    text = shown(FEW)

    assert "not enough data: 1 items, at least 100 needed" in text
    assert "sort, 1 item " in text


def test_json_has_all_of_it() -> None:
    """One object, with what was measured on what, and every interval or why there is none."""
    reports = report_curves(STEEP, resamples=200)
    value = orjson.loads(orjson.dumps(report_json(STEEP, reports)))

    assert value["settings"]["model_digest"] == STEEP.settings.model_digest
    assert value["origin"]["date"]
    (curve,) = value["curves"]
    assert curve["landmarks"]["at"] == {"floor": 8, "knee": 8, "saturation": 8, "collapse": 4, "flat": False}
    assert curve["points"][0]["quality"]["value"] == 0.1
    assert isinstance(reports[0].points[0].quality, Interval)
    lacking = report_json(FEW, report_curves(FEW))["curves"]
    assert isinstance(lacking, list)
    assert "not_enough_data" in lacking[0]["landmarks"]


@pytest.mark.parametrize(
    ("curves", "words"),
    [
        (STEEP, ("sort: 8 steps reach 97%, under 8 it collapses", "floor, default, ceiling 8", "collapsed")),
        (FLAT, ("flat, steps gain less than 3 points", "floor, default, ceiling 1")),
        (FEW, ("not enough data",)),
    ],
)
def test_a_picture_says_what_it_shows(curves: CurveSet, words: tuple[str, ...], tmp_path: Path) -> None:
    """A whole SVG with the headline in words, drawn the same each time."""
    (report,) = report_curves(curves, resamples=200)
    paths = [tmp_path / name for name in ("one.svg", "two.svg")]
    for path in paths:
        save_curve_picture(report, curves, path)

    ET.fromstring(paths[0].read_text(encoding="utf-8"))  # noqa: S314 - our own file
    for word in words:
        assert word in paths[0].read_text(encoding="utf-8")
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_picture_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    """The folder is not there."""
    (report,) = report_curves(FEW)
    with pytest.raises(CurveRunError, match="picture"):
        save_curve_picture(report, FEW, tmp_path / "none" / "sort.svg")
