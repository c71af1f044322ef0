"""The files of a world: found, bounded and read, each part with its line."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from unmask.config.placed_yaml import Key, Placed, read_placed
from unmask.errors import shown
from unmask.knowledge.errors import Fault

SUFFIXES = (".yaml", ".yml", ".json")
LARGEST_FILE = 16 << 20
LARGEST_WORLD = 64 << 20
"""Bytes; ten thousand entities take a tenth of it."""
MOST_FILES = 10_000
WORLD, ENTITIES, MISCONCEPTIONS = "world", "entities", "misconceptions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Something at a place: what it is called there, and where."""

    file: str
    key: str
    placed: Placed

    def fault(self, message: str, *path: Key) -> Fault:
        """Return a fault at what is at ``path`` inside of this."""
        return Fault(file=self.file, line=self.placed.line_at(path), message=message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """All parts of a world's files, in no order that matters."""

    world: Part | None
    entities: tuple[Part, ...]
    misconceptions: tuple[Part, ...]


class FolderReader:
    """Reads a folder, and gathers what is wrong in ``faults``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.faults: list[Fault] = []
        self._bytes = 0

    def read(self) -> Parts:
        """Read every file of the world."""
        world: Part | None = None
        entities: list[Part] = []
        misconceptions: list[Part] = []
        for name in self._names():
            root = self._document(name)
            stem = PurePosixPath(name).with_suffix("")
            if root is None:
                continue
            if stem.parts[0] == ENTITIES:
                entities += self._mapping(name, root)
            elif stem.name == MISCONCEPTIONS:
                misconceptions += self._list(name, root)
            elif world is None:
                world = Part(file=name, key=name, placed=root)
            else:
                self._refuse(name, f"the world is described in {world.file} already; keep one of them")
        if world is None and not any(fault.file.startswith(f"{WORLD}.") for fault in self.faults):
            self._refuse("world.yaml", "the file is missing or empty; it holds id, title, languages, types and words")
        return Parts(world=world, entities=tuple(entities), misconceptions=tuple(misconceptions))

    def _names(self) -> list[str]:
        if not self.folder.is_dir():
            self._refuse(".", "there is no such folder")
            return []
        names = sorted(self._found())
        if len(names) > MOST_FILES:
            self._refuse(".", f"it holds {len(names)} files, allowed: up to {MOST_FILES}")
            return []
        return names

    def _found(self) -> Iterator[str]:
        home = self.folder.resolve()
        for place, folders, files in os.walk(self.folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in (*folders, *files):
                path = Path(place, name)
                inside = path.relative_to(self.folder).as_posix()
                if name.startswith("."):
                    continue
                if path.is_symlink() and (path.is_dir() or not path.resolve().is_relative_to(home)):
                    self._refuse(inside, "it is a link to a folder or out of the world's folder; put the files here")
                elif path.suffix in SUFFIXES and path.is_file():
                    if _is_known(PurePosixPath(inside)):
                        yield inside
                    else:
                        self._refuse(inside, _EXPECTED)

    def _document(self, name: str) -> Placed | None:
        try:
            with (self.folder / name).open("rb") as file:
                content = file.read(LARGEST_FILE + 1)
        except OSError as error:
            self._refuse(name, f"it cannot be read: {error.strerror}")
            return None
        self._bytes += len(content)
        if len(content) > LARGEST_FILE:
            self._refuse(name, f"it is larger than a file of a world may be, {LARGEST_FILE} bytes")
            return None
        if self._bytes > LARGEST_WORLD:
            self._refuse(name, f"with it the world is larger than a world may be, {LARGEST_WORLD} bytes")
            return None
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            self.faults.append(Fault(file=name, line=line, message="it is no text in UTF-8; save it as UTF-8"))
            return None
        read = read_placed(text, is_json=name.endswith(".json"))
        self.faults += [Fault(file=name, line=fault.line, message=fault.message) for fault in read.faults]
        return read.root

    def _mapping(self, name: str, root: Placed) -> Iterator[Part]:
        if not isinstance(root.plain, dict):
            self._refuse(name, "allowed: a mapping from ids to entities", root.line)
            return
        for key, placed in root.parts.items():
            yield Part(file=name, key=str(key), placed=placed)

    def _list(self, name: str, root: Placed) -> Iterator[Part]:
        if not isinstance(root.plain, list):
            self._refuse(name, "allowed: a list of misconceptions", root.line)
            return
        for key, placed in root.parts.items():
            yield Part(file=name, key=str(key), placed=placed)

    def _refuse(self, name: str, message: str, line: int = 1) -> None:
        self.faults.append(Fault(file=name, line=line, message=message))


_EXPECTED = "it is no file of a world; allowed: world.yaml, misconceptions.yaml, entities.yaml and entities/NAME.yaml"


def _is_known(path: PurePosixPath) -> bool:
    stem = path.with_suffix("").parts
    return stem in {(WORLD,), (ENTITIES,), (MISCONCEPTIONS,)} or (len(stem) == 2 and stem[0] == ENTITIES)


def misfits(part: Part, schema: type[BaseModel], error: ValidationError) -> Iterator[Fault]:
    """Turn what a schema says into faults, each at its line."""
    for found in error.errors(include_url=False, include_context=False):
        path = tuple(key for key in found["loc"] if key != "[key]")
        yield part.fault(_sentence(path, schema, found), *path)


def _sentence(path: tuple[Key, ...], schema: type[BaseModel], found: ErrorDetails) -> str:
    field = ".".join(map(str, path))
    match found["type"]:
        case "extra_forbidden":
            beside = ", ".join(schema.model_fields) if len(path) == 1 else "what the documentation lists"
            return f"{field} is no field here; allowed: {beside}"
        case "missing":
            return f"{field} is missing"
        case "value_error":
            return f"{field} is {shown(found['input'])}, {found['msg'].removeprefix('Value error, ')}"
        case _:
            message = found["msg"]
            return f"{field or 'it'} is {shown(found['input'])}: {message[:1].lower()}{message[1:]}"
