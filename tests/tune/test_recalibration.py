"""Behaviour of `unmask.tune.recalibration` and `unmask.tune.begun`."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tune.paired import make_paired
from unmask.testing.curves import make_curve_settings, make_origin
from unmask.tune.before_after import compare
from unmask.tune.begun import BEGUN, Begun, keep_begun, read_begun
from unmask.tune.errors import CurveFileError, CurveRunError, ResumeError
from unmask.tune.paired_run import Arm
from unmask.tune.propose import Source
from unmask.tune.recalibration import REPORT, TEXT, Recalibration, keep_report, refuse_finished, report_lines

FOUND = Recalibration(
    model="tiny",
    model_digest="0123456789abcdef",
    before=None,
    after="a" * 64,
    reasons=("sort: digits has moved",),
    origin=make_origin(),
    curves=make_curve_settings(),
    sources=(Source(place="sort.floor", value="4", source="next above collapse | 4"),),
    service_class="interactive",
    comparisons=compare([make_paired(arm, f"i{n}") for arm in Arm for n in range(20)], ("sort",), 0),
    difficulty=None,
)
BEGIN = Begun(before="a" * 64, reasons=("asked for",), alarmed=("sort",))


def test_the_report_is_kept_once(tmp_path: Path) -> None:
    """For machines and for people; a second one is refused, whatever it says."""
    keep_report(tmp_path, FOUND)
    value = json.loads((tmp_path / REPORT).read_bytes())

    assert (value["after"], value["reasons"], value["before"]) == ("a" * 64, list(FOUND.reasons), None)
    assert value["comparisons"][0]["after"]["steps"]["value"] == 8.0
    assert (tmp_path / TEXT).read_text().startswith("# Recalibration of tiny")
    with pytest.raises(ResumeError, match="another --folder"):
        keep_report(tmp_path, replace(FOUND, reasons=()))
    with pytest.raises(ResumeError):
        refuse_finished(tmp_path)
    assert json.loads((tmp_path / REPORT).read_bytes()) == value


def test_a_report_cut_short_is_written_again(tmp_path: Path) -> None:
    """The one for machines comes last, and marks the end."""
    (tmp_path / TEXT).write_text("# Recal")
    keep_report(tmp_path, FOUND)

    assert "## Where the new numbers are from" in (tmp_path / TEXT).read_text()
    with pytest.raises(CurveRunError):
        keep_report(tmp_path / "nowhere", FOUND)


def test_tables_of_the_report_are_whole() -> None:
    """Every row has as many cells as its head; a bar in a text is none of the table's."""
    rows = [line for line in report_lines(FOUND) if line.startswith("|")]

    assert {row.count("|") for row in rows} == {4, 5}
    assert any("next above collapse / 4" in row for row in rows)
    assert "the built-in fixed budget" in "\n".join(report_lines(FOUND))


def test_a_run_that_goes_on_keeps_its_reasons(tmp_path: Path) -> None:
    """They are those of its beginning."""
    assert read_begun(tmp_path, None) is None
    keep_begun(tmp_path / "run", BEGIN)

    assert read_begun(tmp_path / "run", "a" * 64) == BEGIN


def test_another_policy_in_force_is_refused(tmp_path: Path) -> None:
    """And a file that is something else."""
    keep_begun(tmp_path, BEGIN)

    with pytest.raises(ResumeError, match="now fixed is in force"):
        read_begun(tmp_path, None)
    (tmp_path / BEGUN).write_text("{}")
    with pytest.raises(CurveFileError):
        read_begun(tmp_path, None)
    with pytest.raises(CurveRunError):
        keep_begun(tmp_path / BEGUN, BEGIN)
