"""Worlds as folders of plain files."""

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from unmask.knowledge.build import Sources, build_world
from unmask.knowledge.errors import Fault, WorldError
from unmask.knowledge.folder import FolderReader, Part, misfits
from unmask.knowledge.schema import EntityDocument, MisconceptionDocument, WorldDocument
from unmask.knowledge.world import World

DocumentT = TypeVar("DocumentT", bound=BaseModel)


def read_world(folder: Path) -> World:
    """Read a world, strictly: what is not understood, or leads nowhere, is a fault.

    Raises:
        WorldError: the files hold no world; it lists every fault of this reading with file and line.
    """
    reader = FolderReader(folder)
    parts = reader.read()
    faults = reader.faults
    head = None if parts.world is None else _checked(parts.world, WorldDocument, faults)
    entities = [(part, _checked(part, EntityDocument, faults)) for part in parts.entities]
    misconceptions = [(part, _checked(part, MisconceptionDocument, faults)) for part in parts.misconceptions]
    if parts.world is None or head is None:
        raise WorldError(folder, faults)
    sources = Sources(part=parts.world, head=head, entities=tuple(entities), misconceptions=tuple(misconceptions))
    world, more = build_world(sources)
    faults += more
    if world is None or faults:
        raise WorldError(folder, faults)
    return world


def _checked(part: Part, schema: type[DocumentT], faults: list[Fault]) -> DocumentT | None:
    try:
        return schema.model_validate(part.placed.plain)
    except ValidationError as error:
        faults += misfits(part, schema, error)
        return None
