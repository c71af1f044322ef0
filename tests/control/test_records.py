"""Behaviour of `unmask.control.records`."""

from pathlib import Path

import pytest

from tests.control.handmade import make_failure, make_label, make_record
from unmask.control.records import RecordFolder


def test_records_come_back_as_they_were(tmp_path: Path) -> None:
    """Each kind by itself, texts of any script included."""
    folder = RecordFolder(tmp_path)
    controls = (make_record(), make_record(exit_steps=None, exit_passed=None, diverged=None, exit_text=None))
    for record in (*controls, make_failure(), make_label()):
        folder.add(record)

    assert folder.controls().records == controls
    assert folder.failures().records == (make_failure(),)
    assert folder.labels().records == (make_label(),)


@pytest.mark.parametrize("broken", [b'{"id": "c', b"{}", b"null", b"\xff\xfe", b'{"control": 1}'])
def test_lines_that_are_no_records_are_counted(tmp_path: Path, broken: bytes) -> None:
    """A torn line, or one of another program's, costs only itself."""
    folder = RecordFolder(tmp_path)
    folder.add(make_record(id="a"))
    with (tmp_path / "controls.jsonl").open("ab") as file:
        file.write(broken)
    folder.add(make_record(id="b"))
    found = folder.controls()

    assert ([record.id for record in found.records], found.unreadable) == (["a", "b"], 1)


def test_labels_are_never_deleted(tmp_path: Path) -> None:
    """Controls come anew, a person's work does not."""
    folder = RecordFolder(tmp_path, largest=500, kept=2)
    for number in range(20):
        folder.add(make_record(id=f"c{number}"))
        folder.add(make_label(control=f"c{number}"))

    assert len(folder.controls().records) < 20
    assert len(folder.labels().records) == 20


def test_a_folder_says_when_its_oldest_controls_may_be_gone(tmp_path: Path) -> None:
    """Whoever compares with the first ones has to know."""
    folder = RecordFolder(tmp_path, largest=1500, kept=2)
    folder.add(make_record())
    assert not folder.lacks_oldest()
    for _ in range(5):
        folder.add(make_record())
    assert folder.lacks_oldest()
