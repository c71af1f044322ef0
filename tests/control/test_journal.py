"""Behaviour of `unmask.control.journal`."""

import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from unmask.control.journal import Journal

WRITER = """
import sys
from pathlib import Path
from unmask.control.journal import Journal

journal = Journal(folder=Path(sys.argv[1]), name="j", largest=4000)
for number in range(10**9):
    journal.append(f"{number} {'x' * 50} {number}".encode())
    print(number, flush=True)
"""


def make(folder: Path, **changes: int) -> Journal:
    """Return a journal in a folder that need not exist."""
    return Journal(folder=folder / "deep" / "folder", name="j", **changes)


def test_lines_come_back_in_their_order(tmp_path: Path) -> None:
    """All that was added, oldest first; nothing where nothing was."""
    journal = make(tmp_path)
    assert list(journal.lines()) == []
    for line in (b"one", b"two", "drei ü".encode()):
        journal.append(line)

    assert list(journal.lines()) == [b"one", b"two", "drei ü".encode()]


def test_files_are_the_owners(tmp_path: Path) -> None:
    """They hold prompts and answers."""
    journal = make(tmp_path)
    journal.append(b"one")

    assert stat.S_IMODE((journal.folder / "j.jsonl").stat().st_mode) == 0o600
    assert stat.S_IMODE(journal.folder.stat().st_mode) == 0o700


def test_torn_line_spoils_no_other(tmp_path: Path) -> None:
    """The next line begins on its own; the torn one stays as it is."""
    journal = make(tmp_path)
    journal.append(b"one")
    path = journal.folder / "j.jsonl"
    with path.open("ab") as file:
        file.write(b"tor")
    journal.append(b"two")

    assert list(journal.lines()) == [b"one", b"tor", b"two"]


def test_old_lines_are_put_aside_and_in_the_end_deleted(tmp_path: Path) -> None:
    """No file is larger than it may be, and there are no more than are kept."""
    journal = make(tmp_path, largest=10, kept=3)
    for number in range(9):
        journal.append(f"{number:04}".encode())
    files = {path.name: path.stat().st_size for path in journal.folder.glob("*.jsonl")}

    assert files == {"j.jsonl": 5, "j.1.jsonl": 10, "j.2.jsonl": 10}
    assert list(journal.lines()) == [f"{number:04}".encode() for number in range(4, 9)]


def test_line_longer_than_a_file_is_kept(tmp_path: Path) -> None:
    """It has a file of its own."""
    journal = make(tmp_path, largest=10)
    for line in (b"a", b"b" * 100, b"c"):
        journal.append(line)

    assert list(journal.lines()) == [b"a", b"b" * 100, b"c"]


def test_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    """Whoever adds a line hears of it."""
    (tmp_path / "deep").write_text("a file")
    with pytest.raises(OSError, match="deep"):
        make(tmp_path).append(b"one")


def test_full_disk_is_an_error(tmp_path: Path) -> None:
    """Nothing is taken for written that is not."""
    journal = make(tmp_path)
    journal.folder.mkdir(parents=True)
    (journal.folder / "j.jsonl").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        journal.append(b"one")


def test_killed_writer_loses_nothing_it_has_written(tmp_path: Path) -> None:
    """Killed at any moment, over several rotations, all lines it spoke of are whole, save those that are too old."""
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) >= 400:
            process.send_signal(signal.SIGKILL)
            break
    said = [int(line) for line in process.stdout.read().split()]
    process.wait()
    process.stdout.close()
    last = max([400, *said])
    journal = Journal(folder=tmp_path, name="j", largest=4000)
    journal.append(b"after")
    *found, after = journal.lines()
    # Torn by the kill, in the middle of its write.
    if len(found[-1].split()) != 3 or found[-1].split()[0] != found[-1].split()[2]:
        found.pop()
    numbers = [int(line.split()[0]) for line in found]

    assert after == b"after"
    assert all(line == f"{number} {'x' * 50} {number}".encode() for line, number in zip(found, numbers, strict=True))
    assert numbers == list(range(numbers[0], numbers[-1] + 1))
    assert numbers[-1] in {last, last + 1}
    assert numbers[0] > 0
