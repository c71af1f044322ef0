"""Behaviour of `unmask.policy.lock`."""

from pathlib import Path

import pytest

from unmask.policy.errors import PolicyStoreError
from unmask.policy.lock import locked


def test_second_writer_waits_and_then_says_so(tmp_path: Path) -> None:
    """Whoever holds the folder for too long is told about, not waited for without end."""
    with (
        locked(tmp_path, 1.0),
        pytest.raises(PolicyStoreError, match="another process has held"),
        locked(tmp_path, 0.01),
    ):
        pass

    with locked(tmp_path, 0.01):
        pass


def test_lock_is_let_go_of_after_an_error(tmp_path: Path) -> None:
    """Whatever went wrong inside."""
    with pytest.raises(ZeroDivisionError), locked(tmp_path / "new", 1.0):
        _ = 1 / 0

    with locked(tmp_path / "new", 0.01):
        pass
