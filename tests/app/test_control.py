"""Behaviour of `unmask.app.control`."""

from pathlib import Path

import pytest

from tests.control.handmade import make_record
from unmask.app.control import control_parts, record_folder
from unmask.control.parts import ControlParts
from unmask.control.records import RecordFolder
from unmask.errors import ConfigError
from unmask.policy.store import PolicyStore


def parts_of(records: Path, policies: Path) -> ControlParts:
    """Return what a server of these folders has."""
    return control_parts(records, PolicyStore(policies), lambda: 7, count_tokens=len, max_tokens=64)


def test_records_are_in_the_folder_of_state() -> None:
    """Where the system has it; a relative one is none, by the standard."""
    home = Path.home() / ".local" / "state" / "unmask" / "controls"

    assert record_folder({"XDG_STATE_HOME": "/var/state"}) == Path("/var/state/unmask/controls")
    assert record_folder({}) == record_folder({"XDG_STATE_HOME": "state"}) == home


def test_server_knows_its_earlier_controls_and_draws_by_its_seed(tmp_path: Path) -> None:
    """A restart makes no rule young again."""
    RecordFolder(tmp_path).add(make_record())
    first, second = (parts_of(tmp_path, tmp_path / "policies") for _ in range(2))
    assert first.book is not None
    assert second.book is not None
    first.book.close()
    second.book.close()

    assert first.book.seen("p" * 64, "sort") == 1
    assert [first.draw() for _ in range(3)] == [second.draw() for _ in range(3)]
    assert first.policies.active_policy("tiny", "0") is None


def test_folder_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """At the start, when somebody looks."""
    (tmp_path / "controls").write_text("in the way")
    with pytest.raises(ConfigError, match="cannot be read"):
        parts_of(tmp_path / "controls", tmp_path)
