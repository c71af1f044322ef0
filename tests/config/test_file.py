"""Behaviour of `unmask.config.file`."""

from pathlib import Path

import pytest

from unmask.config.file import find_file, read_file
from unmask.errors import ConfigError


def write(folder: Path, name: str, content: str | bytes) -> Path:
    """Write a settings file."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("name", ["unmask.toml", "unmask.yaml", "unmask.yml"])
def test_file_of_the_folder_is_found(tmp_path: Path, name: str) -> None:
    """One of the names in the working directory is read without being asked for."""
    assert find_file(tmp_path, None) is None

    path = write(tmp_path, name, "")

    assert find_file(tmp_path, None) == path


def test_two_files_are_unclear(tmp_path: Path) -> None:
    """Where both are there, neither is ignored; naming one settles it."""
    toml, _ = write(tmp_path, "unmask.toml", ""), write(tmp_path, "unmask.yaml", "")

    with pytest.raises(ConfigError, match=r"unmask\.toml and unmask\.yaml are both in .* --config"):
        find_file(tmp_path, None)
    assert find_file(tmp_path, toml) == toml


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.toml", 'port = 9\nmodels = ["x"]\n'),
        ("a.yaml", "port: 9\nmodels: [x]\n"),
        ("a.yml", "\ufeffport: 9\nmodels: [x]"),
    ],
)
def test_toml_and_yaml_are_read(tmp_path: Path, name: str, content: str) -> None:
    """The ending tells which; a byte order mark is no part of a name."""
    assert read_file(write(tmp_path, name, content)).values == {"port": 9, "models": ["x"]}


@pytest.mark.parametrize("name", ["a.toml", "a.yaml"])
def test_empty_file_sets_nothing(tmp_path: Path, name: str) -> None:
    """An empty file is no mistake."""
    assert read_file(write(tmp_path, name, "")).values == {}


def test_place_tells_the_line(tmp_path: Path) -> None:
    """A setting's line is told where one begins with its name, quoted or not."""
    file = read_file(write(tmp_path, "a.toml", '# port = 1\nport = 1\n"host" = "::1"\n'))
    flow = read_file(write(tmp_path, "a.yaml", "{port: 1}"))

    assert file.place("port") == f"{tmp_path}/a.toml line 2"
    assert file.place("host") == f"{tmp_path}/a.toml line 3"
    assert flow.place("port") == f"{tmp_path}/a.yaml"


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.toml", "port = [", "end of document"),
        ("a.toml", "port = 1\nport = 2\n", "line 2"),
        ("a.yaml", "port: [", "line 1"),
        ("a.yaml", "port: 1\nport: 2\n", "port is there twice.*line 2"),
        ("a.yaml", "!!python/object:os.system x", "os.system"),
        ("a.yaml", "[" * 5000, "recursion"),
        ("a.yaml", "- port", "allowed: lines such as"),
        ("a.yaml", "port", "allowed: lines such as"),
        ("a.toml", b"\xff\xfe\xfa", "utf-8"),
        ("a.yaml", b"\xff\xfe\xfa", "utf-8"),
        ("a.json", "{}", r"allowed: names that end in \.toml, \.yaml or \.yml"),
    ],
)
def test_malformed_file_is_told(tmp_path: Path, name: str, content: str | bytes, reason: str) -> None:
    """The message names the file and what is wrong with it."""
    with pytest.raises(ConfigError, match=f"(?s){name}.*{reason}"):
        read_file(write(tmp_path, name, content))


def test_missing_file_is_told(tmp_path: Path) -> None:
    """A file that was named has to be there."""
    with pytest.raises(ConfigError, match=r"none\.yaml: No such file"):
        read_file(tmp_path / "none.yaml")
