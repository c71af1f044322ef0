"""Behaviour of `unmask.policy.disk`: bytes to disk, whole or not at all."""

from pathlib import Path

import pytest

from tests.policy.places import FailingDisk
from unmask.policy.disk import SystemDisk, append, cut, put, read_bytes
from unmask.policy.errors import PolicyStoreError


@pytest.mark.parametrize("allowance", range(12))
def test_failed_append_leaves_the_file_as_it_was(tmp_path: Path, allowance: int) -> None:
    """Ten bytes and a sync: whichever of them fails, none of the bytes stay."""
    path = tmp_path / "log"
    append(SystemDisk(), path, b"first\n")

    if allowance < 11:
        with pytest.raises(PolicyStoreError, match="what was there before is untouched"):
            append(FailingDisk(allowance), path, b"0123456789")
        assert path.read_bytes() == b"first\n"
    else:
        append(FailingDisk(allowance), path, b"0123456789")
        assert path.read_bytes() == b"first\n0123456789"


@pytest.mark.parametrize("allowance", range(12))
def test_failed_put_leaves_the_file_as_it_was(tmp_path: Path, allowance: int) -> None:
    """Ten bytes, a sync and a renaming; nothing half-written lies about either."""
    path = tmp_path / "deep" / "file"
    put(SystemDisk(), path, b"before")

    with pytest.raises(PolicyStoreError, match="No space left"):
        put(FailingDisk(allowance), path, b"0123456789")
    assert path.read_bytes() == b"before"
    assert list(path.parent.iterdir()) == [path]


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    """No file is nothing; a folder in its place is an error."""
    assert read_bytes(tmp_path / "none") is None
    assert read_bytes(tmp_path / "none" / "deeper") is None
    with pytest.raises(PolicyStoreError, match="cannot be read"):
        read_bytes(tmp_path)
    with pytest.raises(PolicyStoreError, match="cannot be written"):
        cut(SystemDisk(), tmp_path / "none", 0)
