"""Worlds out of other formats: what all importers share."""

import re
import shutil
import tempfile
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from unmask.config.strict_yaml import dump_yaml
from unmask.errors import ConfigError
from unmask.knowledge.errors import WorldError
from unmask.knowledge.files import read_world
from unmask.knowledge.folder import LARGEST_WORLD
from unmask.knowledge.schema import LONGEST_NAME, LONGEST_TEXT, Document, EntityDocument, WorldDocument
from unmask.knowledge.world import World

ENTITIES_A_FILE = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A world that is not written yet.

    Attributes:
        entities: by id.
        notes: what the other format says and a world does not, one sentence each.
    """

    head: WorldDocument
    entities: Mapping[str, EntityDocument]
    notes: tuple[str, ...]


def read_bytes(file: Path) -> bytes:
    """Read a file of another format.

    Raises:
        ConfigError: it cannot be read or is too large.
    """
    try:
        with file.open("rb") as stream:
            content = stream.read(LARGEST_WORLD + 1)
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from error
    if len(content) > LARGEST_WORLD:
        raise ConfigError(f"{file} is larger than a world may be, {LARGEST_WORLD} bytes; split it")
    return content.removeprefix(b"\xef\xbb\xbf")


def read_json(file: Path, content: bytes) -> object:
    """Read JSON.

    Raises:
        ConfigError: it is none.
    """
    try:
        value: object = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise ConfigError(f"{file}:{error.lineno}: it is no JSON: {error.msg}") from error
    return value


def write_imported(imported: Imported, folder: Path) -> World:
    """Write a world's folder, and read it back.

    Raises:
        ConfigError: something is there already, or the folder cannot be written.
        WorldError: what was imported is no world; nothing is written then.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(f"{folder} is there already, allowed: a new or empty folder. Take another or remove it.")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise ConfigError(f"{folder} cannot be written: {error.strerror}") from error
    try:
        _write(imported, draft)
        world = read_world(draft)
        # A temporary folder is its owner's alone; what is kept has the rights of any new folder.
        draft.chmod(0o755)
        draft.replace(folder)
    except WorldError as error:
        raise WorldError(folder, error.faults) from error
    except OSError as error:
        raise ConfigError(f"{folder} cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return world


def _write(imported: Imported, folder: Path) -> None:
    (folder / "world.yaml").write_text(dump_yaml(_plain(imported.head)), encoding="utf-8")
    (folder / "entities").mkdir()
    by_type: dict[str, dict[str, object]] = {}
    for key, entity in imported.entities.items():
        by_type.setdefault(entity.type, {})[key] = _entity(entity)
    for kind, entities in by_type.items():
        keys = list(entities)
        for number, start in enumerate(range(0, len(keys), ENTITIES_A_FILE), start=1):
            some = {key: entities[key] for key in keys[start : start + ENTITIES_A_FILE]}
            name = kind if len(keys) <= ENTITIES_A_FILE else f"{kind}-{number}"
            (folder / "entities" / f"{name}.yaml").write_text(dump_yaml(some), encoding="utf-8")


def _plain(document: Document) -> dict[str, object]:
    return document.model_dump(mode="json", exclude_defaults=True)


def _entity(entity: EntityDocument) -> dict[str, object]:
    plain = _plain(entity)
    slots = {
        name: [value.value if value.note is None else _plain(value) for value in values]
        for name, values in entity.slots.items()
    }
    plain["slots"] = {name: values[0] if len(values) == 1 else values for name, values in slots.items()}
    return plain


def id_of(text: str) -> str:
    """Make an id of a text: its letters and digits of any script in lower case, with dashes between."""
    composed = unicodedata.normalize("NFC", text).casefold()
    return "-".join(re.findall(r"\w+", composed))[:LONGEST_NAME]


def free_id(text: str, taken: Mapping[str, object], otherwise: str) -> str:
    """Make an id that is not taken."""
    base = id_of(text)[: LONGEST_NAME - 8] or otherwise
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    return name


def line_of(text: str) -> str:
    """Write a text on one line, composed, without control characters."""
    composed = unicodedata.normalize("NFC", text)
    spaced = "".join(" " if unicodedata.category(char) in {"Cc", "Zl", "Zp", "Cs"} else char for char in composed)
    return " ".join(spaced.split())


def paragraphs(text: str) -> Iterator[str]:
    """Yield a text's lines that hold anything, cut at blanks where they are longer than a text may be."""
    for line in text.splitlines():
        rest = line_of(line)
        while len(rest) > LONGEST_TEXT:
            cut = rest.rfind(" ", 1, LONGEST_TEXT)
            cut = cut if cut > 0 else LONGEST_TEXT
            yield rest[:cut].strip()
            rest = rest[cut:].strip()
        if rest:
            yield rest
