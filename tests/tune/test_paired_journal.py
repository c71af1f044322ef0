"""Behaviour of `unmask.tune.paired_journal`."""

from pathlib import Path

import pytest

from tests.tune.paired import make_paired, make_settings
from unmask.tune.errors import CurveFileError, CurveRunError, ResumeError
from unmask.tune.paired_journal import PairedJournal, read_paired, write_paired
from unmask.tune.paired_run import Arm, PairedRecord

SETTINGS = make_settings()
RECORDS = (make_paired(), make_paired(Arm.AFTER, misjudged=True))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where a journal will be."""
    return tmp_path / "run" / "paired.jsonl"


def keep(path: Path, *records: PairedRecord) -> None:
    """Go on with a journal."""
    with write_paired(path, read_paired(path, SETTINGS), SETTINGS) as pen:
        for record in records:
            pen.note(record)


def test_what_is_noted_is_read(path: Path) -> None:
    """Across several beginnings of the process."""
    assert read_paired(path, SETTINGS).records == ()
    keep(path, RECORDS[0])
    keep(path, RECORDS[1])

    assert read_paired(path, SETTINGS).records == RECORDS


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_half_a_line_counts_for_nothing(path: Path, cut: int) -> None:
    """As a killed process leaves it; what comes next is written in its place."""
    keep(path, *RECORDS)
    path.write_bytes(path.read_bytes()[:-cut])

    assert read_paired(path, SETTINGS).records == RECORDS[:1]
    keep(path, RECORDS[1])
    assert read_paired(path, SETTINGS).records == RECORDS


def test_a_header_cut_short_begins_anew(path: Path) -> None:
    """Nothing was measured yet."""
    keep(path)
    path.write_bytes(path.read_bytes()[:-5])
    keep(path, RECORDS[0])

    assert read_paired(path, SETTINGS).records == RECORDS[:1]


@pytest.mark.parametrize(
    ("field", "value"),
    [("before", "b" * 64), ("after", "c" * 64), ("items", 9), ("seed", 4), ("model_digest", "f" * 16)],
)
def test_another_comparison_is_refused_by_name(path: Path, field: str, value: object) -> None:
    """Measurements of both would make none."""
    keep(path, *RECORDS)

    with pytest.raises(ResumeError, match=field):
        read_paired(path, make_settings(**{field: value}))


def test_damage_is_named_by_its_line(path: Path) -> None:
    """In the header, and in the middle."""
    keep(path, *RECORDS)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"{}\n" + lines[2])
    with pytest.raises(CurveFileError, match="line 2"):
        read_paired(path, SETTINGS)
    path.write_bytes(b"{}\n")
    with pytest.raises(CurveFileError, match="no journal"):
        read_paired(path, SETTINGS)


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    """Before anything is measured."""
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "paired.jsonl"

    with (
        pytest.raises(CurveRunError, match="--resume"),
        write_paired(path, PairedJournal(records=(), size=0), SETTINGS),
    ):
        pass
    with pytest.raises(CurveFileError):
        read_paired(path, SETTINGS)
