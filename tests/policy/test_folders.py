"""Behaviour of `unmask.policy.folders`."""

from pathlib import Path

import pytest

from unmask.errors import ConfigError
from unmask.policy.folders import open_store, packaged_store, user_folder


def test_setting_names_the_folder() -> None:
    """As it is, but for a tilde."""
    assert user_folder("p/q", {}) == Path("p/q")
    assert user_folder("~/p", {}) == Path.home() / "p"


def test_default_is_state() -> None:
    """Where the system keeps state, or where it is by convention; a relative path there does not count."""
    assert user_folder(None, {"XDG_STATE_HOME": "/s"}) == Path("/s/unmask/policy")
    assert user_folder(None, {}) == Path.home() / ".local/state/unmask/policy"
    assert user_folder(None, {"XDG_STATE_HOME": "s"}) == Path.home() / ".local/state/unmask/policy"


def test_no_home_is_told() -> None:
    """A user the system does not know has to name a folder."""
    with pytest.raises(ConfigError, match="--policy-dir"):
        user_folder("~no-such-user-here/p", {})


def test_package_lies_beneath() -> None:
    """What ships counts where the user has nothing, and is only read."""
    store = open_store("p", {})

    assert store.folder == Path("p")
    assert not store.read_only
    assert store.beneath is not None
    assert store.beneath.folder == packaged_store().folder
    assert store.beneath.read_only
