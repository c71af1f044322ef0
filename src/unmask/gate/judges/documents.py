"""Rubrics and judge settings, read strictly from YAML."""

from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from unmask.config.strict_yaml import load_yaml
from unmask.errors import shown
from unmask.gate.judges.errors import JudgeError

LARGEST_FILE = 1 << 20
_Document = TypeVar("_Document", bound=BaseModel)


def read_document(path: Path, kind: type[_Document], what: str) -> _Document:
    """Read a file.

    Raises:
        JudgeError: it cannot be read or does not fit; the message has the path, the field, its value and what fits.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise JudgeError(f"{what} cannot be read from {path}: {error.strerror}") from error
    if len(content) > LARGEST_FILE:
        raise JudgeError(f"{path} has {len(content)} bytes, allowed: up to {LARGEST_FILE}. Shorten it.")
    try:
        return parse_document(content.decode("utf-8-sig"), kind, what)
    except UnicodeDecodeError as error:
        raise JudgeError(f"{path} is no text in UTF-8, byte {error.start}; save it as UTF-8") from error
    except JudgeError as error:
        raise JudgeError(f"{path}: {error.message}", param=error.param) from error


def parse_document(text: str, kind: type[_Document], what: str) -> _Document:
    """Read a document out of a text.

    Raises:
        JudgeError: it is no YAML, or a field does not fit.
    """
    try:
        return kind.model_validate(load_yaml(text))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        if isinstance(error, ValidationError):
            raise _misfit(error, what) from error
        raise JudgeError(f"{what} is no YAML: {error}") from error


def _misfit(error: ValidationError, what: str) -> JudgeError:
    found = error.errors(include_url=False)[0]
    path = ".".join(map(str, found["loc"])) or "it"
    match found["type"]:
        case "missing":
            return JudgeError(f"{what}: {path} is missing. Add it.", param=path)
        case "extra_forbidden":
            return JudgeError(f"{what}: {path} is no field of it. Remove or rename it.", param=path)
        case _:
            return JudgeError(f"{what}: {path} is {shown(found['input'])}: {found['msg']}. Change it.", param=path)
