"""Suites as files: YAML with everything in one document, or JSONL with the head first and then a scenario a line."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from unmask.config.placed_yaml import Placed, read_placed
from unmask.config.strict_yaml import dump_yaml
from unmask.errors import shown
from unmask.gate.errors import SuiteError
from unmask.gate.scenario import Scenario, Suite
from unmask.gate.scenario_record import scenario_record
from unmask.gate.suite_digest import suite_digest
from unmask.gate.suite_references import misfits_of
from unmask.gate.suite_schema import HeadDocument, ScenarioDocument
from unmask.knowledge.errors import MOST_SHOWN, Fault, WorldError
from unmask.knowledge.files import read_world
from unmask.knowledge.folder import Part, misfits
from unmask.knowledge.shipped import EXAMPLE
from unmask.knowledge.world import World

LARGEST_FILE = 64 << 20
"""Bytes; a hundred thousand scenarios."""
LINES = ".jsonl"
SCENARIOS = "scenarios"
SHIPPED_WORLDS: Mapping[str, Path] = MappingProxyType({"example": EXAMPLE})
"""Worlds that a suite may name instead of a folder."""
ReadWorld = Callable[[Path], World]

_Document = TypeVar("_Document", bound=BaseModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """What a file holds: its head, and its scenarios each with its place."""

    head: Part | None
    scenarios: tuple[Part, ...]


def read_suite(path: Path, read: ReadWorld = read_world) -> Suite:
    """Read a suite with its worlds, strictly.

    Args:
        path: a ``.jsonl`` file, or one of YAML, of which JSON is a part.
        read: reads a world's folder.

    Raises:
        SuiteError: it does not hold scenarios of its worlds; it lists every fault with file and line.
    """
    faults: list[Fault] = []
    parts = _parts(path, faults)
    head = None if parts.head is None else _checked(parts.head, HeadDocument, faults)
    # As long as a world cannot be read, what refers to it cannot be judged.
    worlds = None if parts.head is None or head is None else _worlds(path, parts.head, head, read, faults)
    scenarios = _scenarios(parts.scenarios, worlds, faults)
    if parts.head is not None and not parts.scenarios and not faults:
        faults.append(parts.head.fault("it has no scenarios; a suite of none decides nothing"))
    if faults or head is None or worlds is None:
        raise SuiteError(_message(path, faults))
    return Suite(
        id=head.id,
        family=head.family,
        scenarios=tuple(scenarios),
        worlds=worlds,
        digest=suite_digest(scenarios, worlds),
    )


def warnings_of(suite: Suite) -> tuple[str, ...]:
    """Say what will keep a suite, though it can be asked, from deciding anything."""
    clusters = {scenario.cluster for scenario in suite.scenarios}
    if len(clusters) > 1:
        return ()
    warning = (
        f"all {len(suite.scenarios)} scenarios of {suite.id} are of one cluster, {min(clusters)}: they count as one, "
        "so no interval can be given and every row will be INCONCLUSIVE. Ask about other subjects too"
    )
    return (warning,)


def suite_text(suite: Suite, worlds: Sequence[str], *, lines: bool) -> str:
    """Write a suite so that `read_suite` reads the same one back.

    Args:
        suite: what to write.
        worlds: the folders of its worlds, as seen from the file's own.
        lines: whether as JSONL, else as YAML.
    """
    head: dict[str, object] = {"id": suite.id, "family": suite.family, "worlds": list(worlds)}
    records = [scenario_record(scenario) for scenario in suite.scenarios]
    if not lines:
        return dump_yaml(head | {SCENARIOS: records})
    return "".join(f"{orjson.dumps(record).decode()}\n" for record in (head, *records))


def _parts(path: Path, faults: list[Fault]) -> _Parts:
    text = _text(path, faults)
    if text is None:
        return _Parts(head=None, scenarios=())
    return _line_parts(path.name, text, faults) if path.suffix == LINES else _yaml_parts(path.name, text, faults)


def _text(path: Path, faults: list[Fault]) -> str | None:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            faults.append(
                Fault(file=path.name, line=1, message=f"it is larger than a suite may be, {LARGEST_FILE} bytes")
            )
            return None
        return content.decode("utf-8-sig")
    except OSError as error:
        faults.append(Fault(file=path.name, line=1, message=f"it cannot be read: {error.strerror}"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        faults.append(Fault(file=path.name, line=line, message="it is no text in UTF-8; save it as UTF-8"))
    return None


def _yaml_parts(name: str, text: str, faults: list[Fault]) -> _Parts:
    read = read_placed(text, is_json=name.endswith(".json"))
    faults += [Fault(file=name, line=fault.line, message=fault.message) for fault in read.faults]
    root = read.root
    if root is None or not isinstance(root.plain, dict):
        if not read.faults:
            faults.append(Fault(file=name, line=1, message="allowed: a mapping with id, family, worlds and scenarios"))
        return _Parts(head=None, scenarios=())
    inner = {key: part for key, part in root.parts.items() if key != SCENARIOS}
    head = Placed(line=root.line, plain={key: part.plain for key, part in inner.items()}, parts=inner)
    listed = root.parts.get(SCENARIOS)
    if listed is not None and not isinstance(listed.plain, list):
        faults.append(Fault(file=name, line=listed.line, message="allowed: a list of scenarios"))
    items = listed.parts.items() if listed is not None and isinstance(listed.plain, list) else ()
    scenarios = [Part(file=name, key=str(key), placed=placed) for key, placed in items]
    return _Parts(head=Part(file=name, key="", placed=head), scenarios=tuple(scenarios))


def _line_parts(name: str, text: str, faults: list[Fault]) -> _Parts:
    parts: list[Part] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            plain = json.loads(line, object_pairs_hook=_once, parse_constant=_no_number)
        except (ValueError, RecursionError) as error:
            faults.append(Fault(file=name, line=number, message=f"it is no JSON: {error}"))
            continue
        parts.append(Part(file=name, key=str(number), placed=Placed(line=number, plain=plain)))
    if not parts and not faults:
        faults.append(Fault(file=name, line=1, message="the file is empty; its first line is {id, family, worlds}"))
    return _Parts(head=parts[0] if parts else None, scenarios=tuple(parts[1:]))


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{shown(name)} is there twice")
        found[name] = value
    return found


def _no_number(text: str) -> object:
    raise ValueError(f"{text} is no number")


def _worlds(
    path: Path,
    part: Part,
    head: HeadDocument,
    read: ReadWorld,
    faults: list[Fault],
) -> dict[str, World] | None:
    """Return all worlds by id; nothing where one of them cannot be had."""
    before = len(faults)
    worlds: dict[str, World] = {}
    for number, name in enumerate(head.worlds):
        folder = SHIPPED_WORLDS.get(name) or path.parent / name
        try:
            world = read(folder)
        except WorldError as error:
            # What is at fault has its own file and line; the suite's line says who asked for it.
            faults.append(part.fault(f"{shown(name)} is no world that can be used", "worlds", number))
            faults += [
                Fault(file=str(PurePosixPath(name, one.file)), line=one.line, message=one.message)
                for one in error.faults
            ]
            continue
        if world.id in worlds:
            faults.append(part.fault(f"{shown(name)} is {world.id}, which is there already", "worlds", number))
        worlds[world.id] = world
    return worlds if len(faults) == before else None


def _scenarios(parts: Iterable[Part], worlds: dict[str, World] | None, faults: list[Fault]) -> list[Scenario]:
    scenarios: list[Scenario] = []
    first: dict[str, Part] = {}
    for part in parts:
        document = _checked(part, ScenarioDocument, faults)
        if document is None:
            continue
        scenario = document.scenario()
        other = first.setdefault(scenario.id, part)
        if other is not part:
            line = other.placed.line_at(("id",))
            faults.append(part.fault(f"the id {shown(scenario.id)} is there twice, first on line {line}", "id"))
        if worlds is not None and scenario.world not in worlds:
            allowed = ", ".join(worlds)
            faults.append(part.fault(f"{scenario.id}: {shown(scenario.world)} is no world here: {allowed}", "world"))
        elif worlds is not None:
            found = misfits_of(scenario, worlds[scenario.world])
            faults += [part.fault(f"{scenario.id}: {_dotted(place)}{message}", *place) for place, message in found]
        scenarios.append(scenario)
    return scenarios


def _dotted(place: Iterable[str | int]) -> str:
    return f"{'.'.join(map(str, place))}: "


def _checked(part: Part, schema: type[_Document], faults: list[Fault]) -> _Document | None:
    try:
        return schema.model_validate(part.placed.plain)
    except ValidationError as error:
        faults += misfits(part, schema, error)
        return None


def _message(path: Path, faults: Sequence[Fault]) -> str:
    found = sorted(set(faults))
    shown_faults = [str(fault) for fault in found[:MOST_SHOWN]]
    more = [f"and {len(found) - MOST_SHOWN} more"] if len(found) > MOST_SHOWN else []
    return f"{path} is no suite, {len(found)} to mend:\n" + "\n".join((*shown_faults, *more))
