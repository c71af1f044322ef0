"""A policy's file: read strictly, and written so that it reads back the same."""

import json
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

import yaml
from pydantic import ValidationError

from unmask.config.strict_yaml import dump_yaml, load_yaml
from unmask.errors import ConfigError, shown
from unmask.policy.convert import document_of, policy_from
from unmask.policy.fields import field_at, key_at, names_at
from unmask.policy.policy import Policy
from unmask.policy.rules import check_policy
from unmask.policy.schema import PolicyDocument

LARGEST_FILE = 1 << 20
"""Bytes; a policy of a hundred task types has a tenth of it."""


def read_policy(path: Path) -> Policy:
    """Read a policy file.

    Raises:
        ConfigError: it cannot be read, is too large or malformed, or a field does not fit; the message has the
            field's path, its value, what is allowed, and the fix.
    """
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise ConfigError(f"the policy cannot be read from {path}: {error.strerror}") from error
    try:
        return parse_policy(content)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.message}", param=error.param) from error


def parse_policy(content: bytes) -> Policy:
    """Read a policy out of bytes: YAML in UTF-8, of which JSON is a part.

    Raises:
        ConfigError: as `read_policy`.
    """
    if len(content) > LARGEST_FILE:
        raise ConfigError(f"the file is larger than a policy may be, allowed: up to {LARGEST_FILE} bytes")
    try:
        raw = load_yaml(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ConfigError(f"the file is no text in UTF-8, byte {error.start}; save it as UTF-8") from error
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise ConfigError(f"the file is no YAML that a policy may be written in: {error}") from error
    if not isinstance(raw, dict):
        raise ConfigError(
            f"the file holds {shown(raw)}, allowed: the fields of a policy. `unmask policy example` writes one"
        )
    policy = policy_from(_document(raw))
    check_policy(policy)
    return policy


def policy_text(policy: Policy) -> str:
    """Write a policy as YAML; what is left out is not written.

    Raises:
        ConfigError: a field does not fit.
    """
    check_policy(policy)
    return dump_yaml(checked_document(policy).model_dump(mode="json", exclude_none=True))


def checked_document(policy: Policy) -> PolicyDocument:
    """Return the document of a policy that was made elsewhere than in a file.

    Raises:
        ConfigError: a field does not fit.
    """
    try:
        return document_of(policy)
    except ValidationError as error:
        raise _first_misfit(error) from error


def _document(raw: Mapping[str, object]) -> PolicyDocument:
    try:
        # By way of JSON, whose texts a strict schema takes for the members of enums.
        return PolicyDocument.model_validate_json(json.dumps(raw))
    except (TypeError, UnicodeEncodeError) as error:
        raise ConfigError(
            f"the file holds what is no number, text or mapping: {error}; write it without tags"
        ) from error
    except ValidationError as error:
        raise _first_misfit(error) from error


def _first_misfit(error: ValidationError) -> ConfigError:
    found = error.errors(include_url=False, include_context=False)[0]
    place, kind = found["loc"], found["type"]
    path = ".".join(map(str, place))
    if kind == "extra_forbidden":
        return _unknown(path, str(place[-1]), names_at(place[:-1]))
    if kind == "missing":
        return ConfigError(f"{path} is missing, allowed: {field_at(place)}. Add it.", param=path)
    if place and place[-1] == "[key]":
        path = ".".join(map(str, place[:-2]))
        allowed = key_at(place[:-2])
        return ConfigError(
            f"{path} holds the name {shown(place[-2])}, allowed: {allowed}. Correct or remove it.", param=path
        )
    return ConfigError(f"{path} is {shown(found['input'])}, allowed: {field_at(place)}. Change it.", param=path)


def _unknown(path: str, name: str, known: tuple[str, ...]) -> ConfigError:
    close = get_close_matches(name, known, 1)
    meant = f", did you mean {close[0]}?" if close else "."
    return ConfigError(f"{path} is no field{meant} Allowed: {', '.join(known)}. Remove or rename it.", param=path)
