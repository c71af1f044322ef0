"""Downloading what a user has named."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unmask.engine.families.folder import unheard
from unmask.errors import ConfigError
from unmask.local.hub import READ, download
from unmask.local.places import Repository

REPOSITORY = Repository(id="owner/model", revision="v1")


def test_only_what_is_read_is_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code of a repository is not fetched at all."""
    asked: dict[str, Any] = {}

    def snapshot(repository: str, **wanted: object) -> str:
        asked.update(wanted, repository=repository)
        return "/cache/model"

    monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(snapshot_download=snapshot))
    said: list[str] = []

    assert download(REPOSITORY, said.append) == Path("/cache/model")
    assert asked == {"repository": "owner/model", "revision": "v1", "allow_patterns": list(READ)}
    assert not any(pattern.endswith(".py") for pattern in READ)
    assert said == ["downloading owner/model, unless it is there already"]


def test_the_extra_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can download, the error says what to install."""
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ConfigError, match=r"unmask\[hub\]") as caught:
        download(REPOSITORY, unheard)
    assert caught.value.param == "models"


def test_failures_are_told_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the library raises becomes one sentence."""

    def snapshot(*_: object, **__: object) -> str:
        raise OSError("404: no such repository\nmore of it")

    monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(snapshot_download=snapshot))
    with pytest.raises(ConfigError, match=r"cannot be downloaded: 404: no such repository\. Look"):
        download(REPOSITORY, unheard)
