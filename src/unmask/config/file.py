"""The settings file: which one, and what stands in it."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from unmask.config.strict_yaml import load_yaml
from unmask.errors import ConfigError

DEFAULT_NAMES = ("unmask.toml", "unmask.yaml", "unmask.yml")
_YAML = frozenset({".yaml", ".yml"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsFile:
    """A file's values by name, and its text, which tells the lines."""

    path: Path
    text: str
    values: Mapping[str, object]

    def place(self, name: str) -> str:
        """Say where a setting stands: the file, and the line where one begins with its name."""
        begins = re.compile(rf"""["']?{re.escape(name)}["']?\s*[=:]""")
        lines = (number for number, line in enumerate(self.text.splitlines(), 1) if begins.match(line))
        number = next(lines, None)
        return str(self.path) if number is None else f"{self.path} line {number}"


def find_file(folder: Path, named: Path | None) -> Path | None:
    """Return the file named, else the one of a default name in ``folder``, else nothing.

    Raises:
        ConfigError: the folder holds several, so that it is unclear which one counts.
    """
    if named is not None:
        return named
    found = [folder / name for name in DEFAULT_NAMES if (folder / name).is_file()]
    if len(found) > 1:
        names = " and ".join(path.name for path in found)
        raise ConfigError(
            f"{names} are both in {folder.resolve()}, allowed: one of them. Remove one, or name one with --config."
        )
    return found[0] if found else None


def read_file(path: Path) -> SettingsFile:
    """Read a TOML or YAML file, told apart by its ending.

    Raises:
        ConfigError: it cannot be read, is malformed, has a name twice, or is no list of names with values.
    """
    if path.suffix not in {".toml", *_YAML}:
        raise ConfigError(f"{path} is no settings file by its name, allowed: names that end in .toml, .yaml or .yml")
    try:
        text = path.read_text(encoding="utf-8-sig")
        values = load_yaml(text) if path.suffix in _YAML else tomllib.loads(text)
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"settings cannot be read from {path}: {reason}") from error
    values = {} if values is None else values
    if not isinstance(values, dict):
        raise ConfigError(f"{path} holds {type(values).__name__} {values!r:.80}, allowed: lines such as `port: 8000`")
    return SettingsFile(path=path, text=text, values={str(name): value for name, value in values.items()})
