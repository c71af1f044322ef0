"""Reads the file of upstreams."""

import json
from pathlib import Path
from types import MappingProxyType

import yaml
from pydantic import ValidationError

from unmask.config.strict_yaml import load_yaml
from unmask.errors import ConfigError
from unmask.remote.address import check_url
from unmask.remote.engine_file import check_different, sglang_of, vllm_of
from unmask.remote.schema import ModelDocument, RemoteDocument, UpstreamDocument
from unmask.remote.settings import (
    Bounds,
    Breaking,
    KeySource,
    RemoteModel,
    RemoteSettings,
    Retries,
    Timeouts,
    UpstreamSettings,
)

LARGEST_FILE = 1 << 20
"""Bytes."""


def read_remote(path: Path) -> RemoteSettings:
    """Read the file; paths of keys in it count from its folder.

    Raises:
        ConfigError: it cannot be read, is too large or malformed, or a field does not fit; the message has the
            field's path. It never has the value of a URL with credentials, nor any other that may hold a secret.
    """
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise ConfigError(f"upstreams cannot be read from {path}: {error.strerror}") from error
    try:
        return parse_remote(content, path.parent)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.message}", param=error.param) from error


def parse_remote(content: bytes, folder: Path) -> RemoteSettings:
    """Read upstreams out of bytes: YAML in UTF-8.

    Raises:
        ConfigError: as `read_remote`.
    """
    if len(content) > LARGEST_FILE:
        raise ConfigError(f"the file is larger than it may be, allowed: up to {LARGEST_FILE} bytes")
    try:
        raw = load_yaml(content.decode("utf-8-sig"))
        # By way of JSON, whose texts a strict schema takes for the members of enums.
        document = RemoteDocument.model_validate_json(json.dumps(raw))
    except UnicodeDecodeError as error:
        raise ConfigError(f"the file is no text in UTF-8, byte {error.start}; save it as UTF-8") from error
    except ValidationError as error:
        raise _misfit(error) from error
    except yaml.MarkedYAMLError as error:
        # Without the line itself, which might hold a secret.
        line = "" if error.problem_mark is None else f" in line {error.problem_mark.line + 1}"
        raise ConfigError(f"the file is no YAML that this may be written in{line}: {error.problem}") from error
    except (TypeError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise ConfigError("the file is no YAML that this may be written in: an odd value") from error
    models = tuple(_model(entry, f"models.{index}", folder) for index, entry in enumerate(document.models))
    check_different((model.name for model in models), "models")
    return RemoteSettings(models=models)


def _model(given: ModelDocument, place: str, folder: Path) -> RemoteModel:
    upstreams = tuple(
        _upstream(entry, f"{place}.upstreams.{index}", folder) for index, entry in enumerate(given.upstreams)
    )
    check_different((upstream.name for upstream in upstreams), f"{place}.upstreams")
    return RemoteModel(
        name=given.name,
        upstream_model=given.upstream_model,
        upstreams=upstreams,
        kind=given.kind,
        answers_as=tuple(given.answers_as),
        digest=given.digest,
        revision=given.revision,
        context_length=given.context_length,
        default_max_tokens=given.default_max_tokens,
        include_usage=given.include_usage,
        asks_models=given.asks_models,
        has_logprobs=given.has_logprobs,
        vllm=vllm_of(given, place),
        sglang=sglang_of(given, place),
        timeouts=Timeouts(**given.timeouts.model_dump()),
        class_timeouts=MappingProxyType(
            {name: Timeouts(**entry.model_dump()) for name, entry in given.class_timeouts.items()}
        ),
        retries=Retries(**given.retries.model_dump()),
        breaking=Breaking(**given.breaking.model_dump()),
        bounds=Bounds(**given.bounds.model_dump()),
    )


def _upstream(given: UpstreamDocument, place: str, folder: Path) -> UpstreamSettings:
    if given.key_env is not None and given.key_file is not None:
        raise ConfigError(f"{place}: key_env and key_file are both set, allowed: one of them.", param=place)
    return UpstreamSettings(
        name=given.name,
        url=check_url(given.url, param=f"{place}.url"),
        key=KeySource(env=given.key_env, file=None if given.key_file is None else folder / given.key_file),
        concurrency=given.concurrency,
        queue=given.queue,
        allow_link_local=given.allow_link_local,
        proxy=None if given.proxy is None else check_url(given.proxy, param=f"{place}.proxy"),
        pool=given.pool,
    )


def _misfit(error: ValidationError) -> ConfigError:
    found = error.errors(include_url=False, include_context=False, include_input=False)[0]
    path = ".".join(map(str, found["loc"])) or "the file"
    if found["type"] == "extra_forbidden":
        last = str(found["loc"][-1])
        hint = " A key never stands here: name it by key_env or key_file." if "key" in last.lower() else ""
        return ConfigError(f"{path} is no field. Remove or rename it.{hint}", param=path)
    # Not its value: what is in the wrong place may be a secret.
    return ConfigError(f"{path} does not fit: {found['msg']}. Change it.", param=path)
