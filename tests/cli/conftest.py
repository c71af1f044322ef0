"""Commands are tested without the settings of whoever runs the tests."""

import os

import pytest

from unmask.config.keys import PREFIX


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(PREFIX):
            monkeypatch.delenv(name)
