"""A settings file to start from."""

import json
import textwrap

from unmask.config.keys import Key, settings_keys
from unmask.config.rules import Folder, Group, ModelAt, OneOf, Range, Url

WIDTH = 100
EXAMPLE_URL = "http://127.0.0.1:4318"
EXAMPLE_MODEL = "bge-m3@http://127.0.0.1:8001/v1"


def example_file() -> str:
    """Return a TOML file of every setting at its default, all commented out; it loads with and without the marks."""
    head = "# Settings of `unmask serve` at their defaults. Take the mark off a line to change it: #port becomes port."
    blocks = [head]
    for group in Group:
        blocks.append(f"# --- {group} " + "-" * (WIDTH - len(group) - 7))
        blocks.extend(_entry(key) for key in settings_keys() if key.group is group)
    return "\n\n".join(blocks)


def _entry(key: Key) -> str:
    """Write what a setting does, what it may be, and a line that sets it."""
    empty = f" Left out: {key.setting.empty}." if key.setting.empty else ""
    said = textwrap.wrap(f"{key.setting.meaning} Allowed: {key.allowed}.{empty}", WIDTH - 3)
    return "\n".join([*(f"## {line}" for line in said), f"#{key.name} = {_toml(key)}"])


def _toml(key: Key) -> str:
    """Write the default as TOML does, which has no word for nothing: there another allowed value stands."""
    if key.default is None:
        return _allowed(key)
    return json.dumps(list(key.default) if isinstance(key.default, tuple) else key.default)


def _allowed(key: Key) -> str:
    match key.setting.rule:
        case Folder():
            return json.dumps(key.name.removesuffix("_dir"))
        case Url():
            return json.dumps(EXAMPLE_URL)
        case ModelAt():
            return json.dumps(EXAMPLE_MODEL)
        case Range(low=low):
            return f"{low:g}"
        case OneOf(names=names):
            return json.dumps(next(iter(names)))
        case _:
            return "1"
