"""YAML without its surprises: what a file says is what is read, or it is refused with the line."""

import re
from typing import TypeAlias

import yaml

Pattern: TypeAlias = "re.Pattern[str]"

PLAIN: tuple[tuple[str, Pattern, str], ...] = (
    ("null", re.compile(r"~|null|"), "~n"),
    ("bool", re.compile(r"true|false"), "tf"),
    ("int", re.compile(r"[-+]?(?:0|[1-9][0-9]*)"), "-+0123456789"),
    (
        "float",
        re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+]?[0-9]+|[-+]?\.inf|\.nan"),
        "-+.0123456789",
    ),
)
"""What stands without quotes and is no text, as in YAML 1.2: `no`, `1:30` and `0777` are texts, `1e-3` is a number."""


class _Plain:
    """The resolvers of `PLAIN` in place of PyYAML's, which are those of YAML 1.1."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, Pattern]]] = {}  # noqa: RUF012 - as PyYAML has it


for _tag, _pattern, _first in PLAIN:
    _whole = re.compile(f"(?:{_pattern.pattern})\\Z")
    for _letter in (*_first, *([""] if _tag == "null" else [])):
        _Plain.yaml_implicit_resolvers.setdefault(_letter, []).append((f"tag:yaml.org,2002:{_tag}", _whole))


class _Loader(_Plain, yaml.SafeLoader):
    """Refuses aliases, names given twice and names that are no texts."""

    def compose_node(self, parent: yaml.Node | None, index: object) -> yaml.Node | None:
        """Refuse an alias: a few lines of them stand for gigabytes."""
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(
                problem="an alias (*) is not allowed here, write it out", problem_mark=event.start_mark
            )
        return super().compose_node(parent, index)  # type: ignore[arg-type]

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:  # noqa: FBT001, FBT002 - as PyYAML has it
        """Build a mapping whose names are texts, all different; of two YAML would keep the last and say nothing."""
        seen: set[str] = set()
        for name, _ in node.value:
            if name.tag != "tag:yaml.org,2002:str":
                shown = name.value if isinstance(name, yaml.ScalarNode) else "a list or mapping"
                raise yaml.constructor.ConstructorError(
                    problem=f"{shown} is no name, write it in quotes", problem_mark=name.start_mark
                )
            if name.value in seen:
                raise yaml.constructor.ConstructorError(
                    problem=f"{name.value} is there twice", problem_mark=name.start_mark
                )
            seen.add(name.value)
        return super().construct_mapping(node, deep)


class _Dumper(_Plain, yaml.SafeDumper):
    """Puts into quotes what `_Loader` would not read as text."""


def load_yaml(text: str) -> object:
    """Read one document.

    Raises:
        yaml.YAMLError: it is malformed, or has an alias, a name twice, a name that is no text, or a tag of its own.
        ValueError: a number has thousands of digits.
        RecursionError: it is nested without end.
    """
    return yaml.load(text, _Loader)  # noqa: S506 - a safe loader


def dump_yaml(value: object) -> str:
    """Write a document that `load_yaml` reads back; mappings keep their order."""
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text
