"""Behaviour of `unmask.control.book`."""

import threading
from pathlib import Path

import pytest

from tests.control.handmade import make_failure, make_record
from unmask.control import book as module
from unmask.control.book import Kept, RecordBook
from unmask.control.records import ControlRecord, RecordFolder


def test_records_are_written_by_the_end(tmp_path: Path) -> None:
    """And counted by policy and task type, those of an earlier run included."""
    folder = RecordFolder(tmp_path)
    folder.add(make_record(id="earlier"))
    book, told = RecordBook(folder), list[Kept]()
    assert book.seen("p" * 64, "sort") == 1
    for record in (make_record(), make_record(task="latin"), make_failure()):
        book.keep(lambda record=record: record, told.append)  # type: ignore[misc]
    book.close()

    assert [kept.record for kept in told] == [make_record(), make_record(task="latin"), make_failure()]
    assert [record.id for record in folder.controls().records] == ["earlier", "c1", "c1"]
    assert (book.seen("p" * 64, "sort"), book.seen("p" * 64, "latin"), book.seen("q", "sort")) == (2, 1, 0)


def test_nothing_to_keep_is_no_record(tmp_path: Path) -> None:
    """What was judged and found right leaves nothing."""
    book, told = RecordBook(RecordFolder(tmp_path)), list[Kept]()
    book.keep(lambda: None, told.append)
    book.close()

    assert told == [Kept(record=None)]
    assert list(tmp_path.iterdir()) == []


def test_lost_records_are_said_once_and_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A folder that cannot be written costs no request; once it can be again, records are kept again."""
    place = tmp_path / "state"
    place.write_text("in the way")
    book, told = RecordBook(RecordFolder(tmp_path / "other")), list[Kept]()
    book._folder = RecordFolder(place / "controls")
    for _ in range(3):
        book.keep(make_record, told.append)
    book.keep(place.unlink, lambda _: None)
    book.keep(make_record, told.append)
    book.close()

    assert [kept.is_lost for kept in told] == [True, True, True, False]
    assert caplog.text.count("records of control runs are lost, requests go on") == 1
    assert book.seen("p" * 64, "sort") == 1


def test_record_that_cannot_be_made_is_lost(tmp_path: Path) -> None:
    """And those after it are not."""

    def broken() -> ControlRecord:
        raise ZeroDivisionError

    book, told = RecordBook(RecordFolder(tmp_path)), list[Kept]()
    book.keep(broken, told.append)
    book.keep(make_record, told.append)
    book.close()

    assert [kept.is_lost for kept in told] == [True, False]


def test_slow_disk_holds_up_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests never wait for records: where too many do, the next one is lost."""
    monkeypatch.setattr(module, "MOST_WAITING", 2)
    disk, told = threading.Event(), list[Kept]()
    book = RecordBook(RecordFolder(tmp_path))

    def slowly() -> ControlRecord:
        disk.wait()
        return make_record()

    for _ in range(3):
        book.keep(slowly, told.append)
    lost = list(told)
    disk.set()
    book.close()

    assert lost == [Kept(record=None, is_lost=True)]
    assert [kept.is_lost for kept in told] == [True, False, False]
