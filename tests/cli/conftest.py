"""Commands are tested without the settings of whoever runs the tests, and without the policies that ship."""

import os
from pathlib import Path

import pytest

from unmask.config.keys import PREFIX
from unmask.policy import folders
from unmask.policy.store import PolicyStore


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in list(os.environ):
        if name.startswith(PREFIX):
            monkeypatch.delenv(name)
    empty = tmp_path_factory.mktemp("package") / "builtin"
    monkeypatch.setattr(folders, "packaged_store", lambda: PolicyStore(Path(empty), read_only=True))
