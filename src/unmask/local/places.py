"""What a model may be called by: a name in the package, a folder of a checkpoint, or a repository of the Hub."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

_REPOSITORY = re.compile(r"(?P<owner>[\w.-]+)/(?P<name>[\w.-]+?)(?:@(?P<revision>[\w./-]+))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A repository of the Hugging Face Hub; without a ``revision`` the newest."""

    id: str
    revision: str | None


Place = Path | Repository


def place_of(model: str) -> Place | None:
    """Return where a checkpoint is; nothing where ``model`` can only be a name in the package."""
    path = Path(model).expanduser()
    is_path = model.startswith((".", "~", os.sep)) or model.endswith(os.sep)
    # What is there is never looked for elsewhere, whole or not.
    if is_path or (os.sep in model and path.exists()) or (path / "config.json").is_file():
        return path
    found = _REPOSITORY.fullmatch(model)
    return None if found is None else Repository(id=f"{found['owner']}/{found['name']}", revision=found["revision"])


def served_name(model: str) -> str:
    """Return the name that requests call a model by: of a folder or repository the last part of where it is."""
    place = place_of(model)
    match place:
        case None:
            return model
        case Path():
            return place.resolve().name
        case Repository():
            return place.id.partition("/")[2]
