"""Behaviour of `unmask.config`."""

import ast
import dataclasses
import inspect
from pathlib import Path
from typing import Any

import pytest

from unmask import config
from unmask.config import Settings, is_loopback, load_settings, settings_from
from unmask.errors import ConfigError


def test_defaults_are_valid() -> None:
    """A server needs no settings."""
    settings = Settings()

    assert (settings.host, settings.port, settings.models) == ("127.0.0.1", 8000, ())


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "localhost"])
def test_loopback_is_taken(host: str) -> None:
    """Every name of this machine for itself may be listened on."""
    assert is_loopback(host)
    assert Settings(host=host).host == host


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", "", "localhost.example.org"])  # noqa: S104 - refused
def test_other_host_is_refused_with_the_reason(host: str) -> None:
    """Without keys nobody else may reach the server, and the message says that they do not exist yet."""
    with pytest.raises(ConfigError, match="keys do not exist yet") as caught:
        Settings(host=host)

    assert caught.value.param == "host"


BAD: tuple[tuple[str, Any], ...] = (
    ("host", 127),
    ("port", -1),
    ("port", 65_536),
    ("port", "8000"),
    ("port", True),
    ("port", 8000.0),
    ("port", None),
    ("models", ("tiny", "tiny")),
    ("models", ("",)),
    ("models", (3,)),
    ("models", "tiny"),
    ("models", {"tiny": 1}),
    ("max_rows", 0),
    ("page_pool_tokens", 10),
    ("queue_limit", 0),
    ("max_body_bytes", 0),
    ("threads", 0),
    ("drain_s", -1),
    ("drain_s", float("nan")),
    ("drain_s", float("inf")),
    ("drain_s", True),
    ("drain_s", "30"),
)


@pytest.mark.parametrize(("name", "value"), BAD)
def test_bad_setting_is_named(name: str, value: object) -> None:
    """The error names the setting, its value and what is allowed."""
    with pytest.raises(ConfigError) as caught:
        settings_from({name: value})

    assert caught.value.param == name
    assert str(caught.value).startswith(f"{name} is ")
    assert "allowed" in str(caught.value)


def test_unknown_setting_is_refused() -> None:
    """A misspelt setting is not ignored, and the message lists those that exist."""
    with pytest.raises(ConfigError, match="'prot' is no setting, allowed: host, port, ") as caught:
        settings_from({"prot": 1})

    assert caught.value.param == "prot"


@pytest.mark.parametrize("values", [["port"], "port", 3])
def test_settings_are_names_with_values(values: object) -> None:
    """A list or a number is no set of settings."""
    with pytest.raises(ConfigError):
        settings_from(values)


def test_later_settings_win() -> None:
    """What is given goes over a base, and the rest of the base stays."""
    base = settings_from({"port": 1, "max_rows": 2})

    assert settings_from({"port": 3}, base) == Settings(port=3, max_rows=2)


def test_file_is_read(tmp_path: Path) -> None:
    """A YAML file sets what it names; an empty one sets nothing."""
    path = tmp_path / "settings.yaml"
    path.write_text("port: 9000\nmodels: [tiny, nano]\n", encoding="utf-8")
    empty = tmp_path / "empty.yaml"
    empty.touch()

    assert load_settings(path) == Settings(port=9000, models=("tiny", "nano"))
    assert load_settings(empty) == Settings()


@pytest.mark.parametrize("content", [b"port: [", b"\xff\xfe\xfa", b"!!python/object:os.system x"])
def test_unreadable_file_is_told(tmp_path: Path, content: bytes) -> None:
    """A file that is no YAML is refused by its name."""
    path = tmp_path / "settings.yaml"
    path.write_bytes(content)

    with pytest.raises(ConfigError, match=r"settings\.yaml"):
        load_settings(path)


def test_missing_file_is_told(tmp_path: Path) -> None:
    """So is one that is not there."""
    with pytest.raises(ConfigError, match=r"none\.yaml"):
        load_settings(tmp_path / "none.yaml")


def test_every_setting_is_documented() -> None:
    """Each field has a docstring below it."""
    (settings,) = (
        node
        for node in ast.parse(inspect.getsource(config)).body
        if isinstance(node, ast.ClassDef) and node.name == "Settings"
    )
    documented = {
        field.target.id
        for field, text in zip(settings.body, settings.body[1:], strict=False)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
    }

    assert documented == {field.name for field in dataclasses.fields(Settings)}
