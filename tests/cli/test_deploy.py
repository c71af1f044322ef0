"""Behaviour of ``unmask deploy``."""

import sys
from pathlib import Path

import pytest

from tests.cli.terminal import type_in
from unmask.cli.exits import Exit


def test_settings_that_machines_cannot_share_are_refused_first(tmp_path: Path) -> None:
    """A file of settings is read and judged before any cluster is looked for."""
    file = tmp_path / "unmask.toml"
    file.write_text('database = "장부.db"\n', encoding="utf-8")
    ended = type_in("deploy", "ray", "--config", str(file))

    assert ended.code == Exit.USAGE
    assert "database is a file, allowed: a URL of PostgreSQL" in ended.err


def test_unknown_settings_are_refused(tmp_path: Path) -> None:
    """A misspelt key is named, with the closest that there is."""
    file = tmp_path / "unmask.toml"
    file.write_text("cluster_gateway = 2\n", encoding="utf-8")
    ended = type_in("deploy", "ray", "--config", str(file))

    assert ended.code == Exit.USAGE
    assert "cluster_gateways" in ended.err


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything else works without it, so it may be missing."""
    monkeypatch.delitem(sys.modules, "unmask.cluster.ray_deploy", raising=False)
    monkeypatch.setitem(sys.modules, "ray", None)
    ended = type_in("deploy", "ray")

    assert ended.code == Exit.CANNOT_RUN
    assert "pip install '.[ray]'" in ended.err


def test_where_to_deploy_has_to_be_said() -> None:
    """There is one place as yet, and it is named."""
    assert type_in("deploy").code == Exit.USAGE
