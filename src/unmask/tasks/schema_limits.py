"""How much a JSON Schema may ask of whoever checks answers against it, found before it is compiled.

A schema of a few lines can take longer than anyone waits: references that each lead
to two others double the work at every link, and so do other constructions. So the
work is counted as if every reference were written out, and a schema that is too
long, too deep or too much work is refused. A recursive reference counts once:
`jsonschema_rs` checks a value against its target once and remembers the result.
What the count does not bound is refused as well: endless recursion, and recursion
together with the keywords that depend on what others have looked at.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from urllib.parse import unquote

import orjson

from unmask.errors import UnmaskError

LONGEST_SCHEMA = 1 << 16
"""Bytes of a schema as compact JSON."""

DEEPEST_SCHEMA = 64
"""Objects and lists inside one another."""

MOST_WORK = 10_000
"""Parts of a schema with every reference written out."""

MOST_PATTERNS = 32
"""Regular expressions of a schema; compiling one takes up to tens of milliseconds."""

DRAFTS = (
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema",
    "http://json-schema.org/draft-06/schema",
)
"""Values of ``$schema``, first the one that is meant by default. Older drafts identify parts in another way."""

_LONGEST_CHAIN = 200
"""Parts that lead to one another in a row: each takes a frame of the count."""

_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_ANCHORS = ("$anchor", "$dynamicAnchor")
_UNEVALUATED = frozenset({"unevaluatedProperties", "unevaluatedItems"})
_HERE = frozenset(
    {"allOf", "anyOf", "dependencies", "dependentSchemas", "else", "if", "not", "oneOf", "then", *_REFERENCES}
)
"""Keywords whose schemas are for the same value."""
_BELOW = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "items",
        "patternProperties",
        "prefixItems",
        "properties",
        "propertyNames",
        *_UNEVALUATED,
    }
)
"""Keywords whose schemas are for parts of the value."""
_NAMED = frozenset({"dependencies", "dependentSchemas", "patternProperties", "properties"})
"""Keywords whose keys are names of properties."""
_REPEATS = 4
"""How often, at most, what is for the same value is checked again for a keyword of `_UNEVALUATED` beside it."""


class InvalidSchemaError(UnmaskError):
    """A JSON Schema is none, leads outside itself, or asks for more than is done."""

    def __init__(self, reason: str, allowed: str = "a JSON Schema") -> None:
        super().__init__(f"{reason} Allowed: {allowed}.")
        self.args = (reason, allowed)
        self.reason = reason
        self.allowed = allowed


def schema_work(schema: Mapping[str, object]) -> int:
    """Return how much work a schema is: its parts with every reference written out.

    Raises:
        InvalidSchemaError: it refers to something outside itself, or passes a limit.
    """
    _check_length(schema)
    graph = _Graph(schema, _check_objects(schema))
    _check_recursion(graph)
    return _Count(graph).work(graph.root, 0)


def _check_length(schema: Mapping[str, object]) -> None:
    try:
        length = len(orjson.dumps(schema))
    except TypeError as error:
        raise InvalidSchemaError(f"It cannot be written as JSON: {error}.") from error
    if length > LONGEST_SCHEMA:
        raise InvalidSchemaError(f"It is {length} bytes long.", f"at most {LONGEST_SCHEMA} bytes")


def _check_objects(schema: Mapping[str, object]) -> dict[str, object]:
    """Check what every object of a schema says, and return those that have a name."""
    draft = schema.get("$schema")
    if isinstance(draft, str) and draft.removesuffix("#") not in DRAFTS:
        raise InvalidSchemaError(f"Its $schema is {draft[:200]!r}.", f"a $schema of {', '.join(DRAFTS)}, or none")
    anchors: dict[str, object] = {}
    patterns = 0
    for node in _objects(schema):
        if node is not schema:
            _check_identity(node)
        _check_references(node)
        patterns += _patterns(node)
        anchors |= {name: node for key in _ANCHORS if isinstance(name := node.get(key), str)}
    if patterns > MOST_PATTERNS:
        raise InvalidSchemaError(f"It has {patterns} patterns.", f"at most {MOST_PATTERNS} patterns")
    return anchors


def _objects(schema: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    waiting: list[tuple[object, int]] = [(schema, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > DEEPEST_SCHEMA:
            raise InvalidSchemaError("It is nested too deeply.", f"at most {DEEPEST_SCHEMA} levels")
        if isinstance(node, Mapping):
            yield node
            waiting += [(below, depth + 1) for below in node.values() if isinstance(below, dict | list)]
        elif isinstance(node, list):
            waiting += [(below, depth + 1) for below in node if isinstance(below, dict | list)]


def _check_identity(node: Mapping[str, object]) -> None:
    """A part with an identity of its own would be another root for the references in it."""
    for key in ("$id", "$schema"):
        if isinstance(node.get(key), str):
            raise InvalidSchemaError(f"A part of it has its own {key}.", f"{key} at the top only")


def _check_references(node: Mapping[str, object]) -> None:
    for key in sorted(_REFERENCES):
        target = node.get(key)
        if isinstance(target, str) and not target.startswith("#"):
            raise InvalidSchemaError(
                f"It refers to {target[:200]!r}, and nothing is ever fetched.",
                "references to parts of the schema itself, such as '#/$defs/item'",
            )


def _patterns(node: Mapping[str, object]) -> int:
    named = node.get("patternProperties")
    return isinstance(node.get("pattern"), str) + (len(named) if isinstance(named, dict) else 0)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a schema: a schema, a list of them, or (``named``) a mapping from names to them."""

    node: object
    named: bool = False

    @property
    def key(self) -> tuple[int, bool]:
        """One and the same object may be read both ways."""
        return id(self.node), self.named


@dataclass(frozen=True, slots=True)
class _Link:
    """What leads from a part to another: whether that one is for the same value, and how often it is checked."""

    to: _Part
    here: bool = True
    times: int = 1


class _Graph:
    """The parts of a schema that take part in a check, and what leads from one to another."""

    def __init__(self, schema: Mapping[str, object], anchors: Mapping[str, object]) -> None:
        self._schema = schema
        self._anchors = anchors
        self.root = _Part(schema)

    def links(self, part: _Part) -> Iterator[_Link]:
        """Yield the links that lead on from a part."""
        match part.node:
            case list():
                yield from (_Link(_Part(below)) for below in part.node)
            case Mapping() if part.named:
                yield from (_Link(_Part(below)) for below in part.node.values())
            case Mapping():
                repeats = _REPEATS if _UNEVALUATED & part.node.keys() else 1
                for key, below in part.node.items():
                    if key not in _HERE | _BELOW:
                        continue
                    target = self._target(below) if key in _REFERENCES and isinstance(below, str) else below
                    here = key in _HERE
                    yield _Link(_Part(target, named=key in _NAMED), here=here, times=repeats if here else 1)

    def parts(self) -> Iterator[_Part]:
        """Yield every part that takes part in a check, once."""
        seen, waiting = {self.root.key}, [self.root]
        while waiting:
            part = waiting.pop()
            yield part
            for link in self.links(part):
                if link.to.key not in seen and isinstance(link.to.node, dict | list):
                    seen.add(link.to.key)
                    waiting.append(link.to)

    def _target(self, reference: str) -> object:
        """Return what a reference means; where it means nothing, compiling says so."""
        place = unquote(reference[1:])
        if place and not place.startswith("/"):
            return self._anchors.get(place)
        node: object = self._schema
        for name in place.split("/")[1:]:
            node = _step(node, name.replace("~1", "/").replace("~0", "~"))
        return node


def _step(node: object, name: str) -> object:
    if isinstance(node, Mapping):
        return node.get(name)
    if isinstance(node, list) and name.isdecimal() and len(name) < len(str(LONGEST_SCHEMA)):
        return node[int(name)] if int(name) < len(node) else None
    return None


def _check_recursion(graph: _Graph) -> None:
    parts = tuple(graph.parts())
    if _has_cycle(parts, lambda part: (link.to for link in graph.links(part) if link.here)):
        raise InvalidSchemaError(
            "A part of it refers to itself for the same value, without end.", "recursion into properties or items only"
        )
    unevaluated = any(isinstance(part.node, Mapping) and _UNEVALUATED & part.node.keys() for part in parts)
    if unevaluated and _has_cycle(parts, lambda part: (link.to for link in graph.links(part))):
        raise InvalidSchemaError(
            f"It is recursive and has {' or '.join(sorted(_UNEVALUATED))}.",
            "one of the two, as checking both takes time without bound",
        )


def _has_cycle(parts: Iterable[_Part], after: Callable[[_Part], Iterable[_Part]]) -> bool:
    order = TopologicalSorter({part.key: [below.key for below in after(part)] for part in parts})
    try:
        order.prepare()
    except CycleError:
        return True
    return False


class _Count:
    """Counts a schema's work, each part of it once."""

    def __init__(self, graph: _Graph) -> None:
        self._graph = graph
        self._counted: dict[tuple[int, bool], int] = {}
        self._open: set[tuple[int, bool]] = set()

    def work(self, part: _Part, depth: int) -> int:
        """Return the work of a part that ``depth`` others lead to in a row."""
        if not isinstance(part.node, dict | list) or part.key in self._open:
            return 1
        if part.key not in self._counted:
            if depth > _LONGEST_CHAIN:
                raise InvalidSchemaError("Its references form a long chain.", f"at most {_LONGEST_CHAIN} links")
            self._open.add(part.key)
            total = 1
            for link in self._graph.links(part):
                total += link.times * self.work(link.to, depth + 1)
                _check_work(total)
            self._open.discard(part.key)
            self._counted[part.key] = total
        return self._counted[part.key]


def _check_work(work: int) -> None:
    if work > MOST_WORK:
        raise InvalidSchemaError(
            "It is too much work to check answers against it.",
            f"at most {MOST_WORK} parts with every reference written out",
        )
