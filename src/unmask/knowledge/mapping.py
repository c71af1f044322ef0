"""Mapping files: which field of a flat record becomes what."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from unmask.config.placed_yaml import read_placed
from unmask.errors import ConfigError
from unmask.knowledge.errors import Fault
from unmask.knowledge.folder import Part, misfits
from unmask.knowledge.imported import read_bytes
from unmask.knowledge.schema import SLOT, Document, Identifier, Kind, Language, Name, PhrasesByLanguage

FieldPath = Annotated[str, Field(min_length=1)]
"""A field's name; a dot leads into what the field holds, by name or by position from 0."""


class MappedSlot(Document):
    """A slot and the field that it is filled from; ``separator`` splits a text into several values."""

    field: FieldPath
    kind: Kind
    many: bool = False
    separator: Annotated[str, Field(min_length=1)] | None = None
    identity: bool = False
    refers_to: list[str] = Field(default_factory=list)
    asked_by: PhrasesByLanguage = Field(default_factory=dict)


class MappedWorld(Document):
    """Of the world that is written."""

    id: Identifier
    title: Name


class Mapping(Document):
    """A mapping file.

    ``names`` is a field for each language of the world; ``ignore`` names fields that are left out on purpose, so that
    the import does not tell of them.
    """

    world: MappedWorld
    type: Identifier
    id: FieldPath | None = None
    names: Annotated[dict[Language, FieldPath], Field(min_length=1)]
    aliases: dict[Language, list[FieldPath]] = Field(default_factory=dict)
    note: FieldPath | None = None
    slots: dict[Annotated[str, Field(pattern=SLOT)], MappedSlot]
    words: dict[Language, dict[str, str]] = Field(default_factory=dict)
    ignore: list[FieldPath] = Field(default_factory=list)


def read_mapping(file: Path) -> Mapping:
    """Read a mapping file.

    Raises:
        ConfigError: it is none; the message has every fault with its line.
    """
    try:
        text = read_bytes(file).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is no text in UTF-8; save it as UTF-8") from error
    read = read_placed(text, is_json=file.suffix == ".json")
    faults = [Fault(file=file.name, line=fault.line, message=fault.message) for fault in read.faults]
    if read.root is None:
        faults = faults or [Fault(file=file.name, line=1, message="the file is empty")]
    else:
        part = Part(file=file.name, key=file.name, placed=read.root)
        try:
            mapping = Mapping.model_validate(read.root.plain)
        except ValidationError as error:
            faults += misfits(part, Mapping, error)
        else:
            if not faults:
                return mapping
    raise ConfigError(f"{file} is no mapping:\n" + "\n".join(map(str, sorted(faults))))
