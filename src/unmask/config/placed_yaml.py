"""YAML in which every part knows its line, and in which all that is wrong is told at once.

Stricter than `unmask.config.strict_yaml` in nothing, but it goes on after a fault, and it is quick enough for files of
many megabytes: libyaml reads them where PyYAML has it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import yaml

from unmask.config.strict_yaml import PLAIN
from unmask.errors import shown

Key = str | int
DEEPEST = 32
_PREFIX = "tag:yaml.org,2002:"
_NOTHING: "Mapping[Key, Placed]" = MappingProxyType({})
_PAIR = re.compile(r"\\\\|\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A part of a document.

    Attributes:
        line: where it begins, from 1; of what a mapping holds, where its name is.
        plain: the part as texts, numbers, lists and mappings.
        parts: what is inside it, by name or position.
    """

    line: int
    plain: object
    parts: Mapping[Key, "Placed"] = field(default_factory=lambda: _NOTHING)

    def line_at(self, path: tuple[Key, ...]) -> int:
        """Return the line of what is at ``path``, or of the innermost part around it that is there."""
        here = self
        for key in path:
            inner = here.parts.get(key)
            if inner is None:
                break
            here = inner
        return here.line


@dataclass(frozen=True, slots=True, kw_only=True)
class Misread:
    """Something that no document may hold."""

    line: int
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedDocument:
    """What was read; ``root`` is ``None`` where nothing was."""

    root: Placed | None
    faults: tuple[Misread, ...]


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Takes what stands without quotes for what YAML 1.2 takes it for."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, "re.Pattern[str]"]]] = {}  # noqa: RUF012 - as PyYAML has it


for _tag, _pattern, _first in PLAIN:
    _whole = re.compile(f"(?:{_pattern.pattern})\\Z")
    for _letter in (*_first, *([""] if _tag == "null" else [])):
        _Loader.yaml_implicit_resolvers.setdefault(_letter, []).append((f"{_PREFIX}{_tag}", _whole))


def read_placed(text: str, *, is_json: bool = False) -> PlacedDocument:
    """Read one document of YAML, or of JSON, which is YAML but for tabs and for characters written as two escapes.

    Aliases, names given twice, names that are no texts, tags and nesting deeper than `DEEPEST` are faults. A document
    with faults is read as far as it goes: of two parts of one name the first is kept.
    """
    if is_json:
        text = _PAIR.sub(_joined, text.replace("\t", " "))
    try:
        node = yaml.compose(text, _Loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return PlacedDocument(root=None, faults=(_misread(error),))
    if node is None:
        return PlacedDocument(root=None, faults=())
    reader = _Reader()
    root = reader.read(node, node.start_mark.line + 1, 0)
    return PlacedDocument(root=root, faults=tuple(reader.faults))


class _Reader:
    """Turns nodes into parts; a node met twice is an alias, and is not entered again."""

    def __init__(self) -> None:
        self.faults: list[Misread] = []
        self._met: set[int] = set()

    def read(self, node: yaml.Node, line: int, depth: int) -> Placed:
        if id(node) in self._met:
            return self._refuse(line, "an alias (*) is not allowed here, write it out")
        self._met.add(id(node))
        if depth > DEEPEST:
            return self._refuse(line, f"it is nested deeper than {DEEPEST} levels")
        match node:
            case yaml.MappingNode() if node.tag == f"{_PREFIX}map":
                return self._mapping(node, line, depth)
            case yaml.SequenceNode() if node.tag == f"{_PREFIX}seq":
                items = [self.read(item, item.start_mark.line + 1, depth + 1) for item in node.value]
                return Placed(line=line, plain=[item.plain for item in items], parts=dict(enumerate(items)))
            case yaml.ScalarNode():
                return self._scalar(node, line)
            case _:
                return self._refuse(line, f"the tag {node.tag} is not allowed here, leave it out")

    def _mapping(self, node: yaml.MappingNode, line: int, depth: int) -> Placed:
        parts: dict[Key, Placed] = {}
        for name, value in node.value:
            at = name.start_mark.line + 1
            if not isinstance(name, yaml.ScalarNode) or name.tag != f"{_PREFIX}str" or id(name) in self._met:
                what = name.value if isinstance(name, yaml.ScalarNode) else "a list or mapping"
                self._refuse(at, f"{shown(what)} is no name, write it in quotes")
                continue
            self._met.add(id(name))
            if name.value in parts:
                self._refuse(at, f"{shown(name.value)} is there twice, first on line {parts[name.value].line}")
                continue
            parts[name.value] = self.read(value, at, depth + 1)
        return Placed(line=line, plain={name: part.plain for name, part in parts.items()}, parts=parts)

    def _scalar(self, node: yaml.ScalarNode, line: int) -> Placed:
        text: str = node.value
        match node.tag.removeprefix(_PREFIX):
            case "str":
                return Placed(line=line, plain=text)
            case "null":
                return Placed(line=line, plain=None)
            case "bool" if text in {"true", "false"}:
                return Placed(line=line, plain=text == "true")
            case "int" | "float" as kind:
                try:
                    return Placed(line=line, plain=int(text) if kind == "int" else float(text.replace(".inf", "inf")))
                except ValueError:
                    return self._refuse(line, f"{shown(text)} is no number that can be held")
            case _:
                return self._refuse(line, f"the tag {node.tag} is not allowed here, leave it out")

    def _refuse(self, line: int, message: str) -> Placed:
        self.faults.append(Misread(line=line, message=message))
        return Placed(line=line, plain=None)


def _joined(found: "re.Match[str]") -> str:
    """Write two escapes of one character as the character; YAML knows no such pairs."""
    if found[1] is None:
        return found[0]
    high, low = int(found[1], 16), int(found[2], 16)
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))


def _misread(error: Exception) -> Misread:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or " ".join(str(error).split())
    return Misread(line=1 if mark is None else mark.line + 1, message=f"it is no YAML: {problem}")
