"""The file of a route: what predicts whether its small model is right, and from which probability on it is tried.

Plain JSON with a digest of itself; nothing in it is ever run.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from unmask.control.estimator_file import EstimatorError, estimator_content, parse_estimator
from unmask.control.route import RouteEnd, RouteFit, TaskRoute
from unmask.errors import ConfigError
from unmask.policy.digest import canonical, content_digest

FORMAT: Literal["unmask.route/1"] = "unmask.route/1"
LARGEST_FILE = 1 << 23
"""Bytes; one of six task types has a few hundred thousand."""
COMMAND = "unmask tune routing"

_Threshold = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None


class RouteFileError(ConfigError):
    """The file of a route cannot be used."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _End(_Strict):
    name: str
    digest: str


class _Task(_Strict):
    threshold: _Threshold
    threshold_alone: _Threshold


class _File(_Strict):
    format: Literal["unmask.route/1"]
    small: _End
    large: _End
    tasks: dict[str, _Task]
    predictor: dict[str, Any]
    report: dict[str, Any]
    digest: str


def route_content(
    *, small: RouteEnd, large: RouteEnd, tasks: Mapping[str, TaskRoute], report: Mapping[str, object]
) -> bytes:
    """Return what a file holds; ``report`` is what was measured, which serving does not read."""
    predictor = estimator_content(
        model=small.name, model_digest=small.digest, tasks={name: task.model for name, task in tasks.items()}
    )
    content = {
        "format": FORMAT,
        "small": {"name": small.name, "digest": small.digest},
        "large": {"name": large.name, "digest": large.digest},
        "tasks": {
            name: {"threshold": task.threshold, "threshold_alone": task.threshold_alone} for name, task in tasks.items()
        },
        "predictor": orjson.loads(predictor),
        "report": dict(report),
    }
    return orjson.dumps({**content, "digest": _digest(content)}, option=orjson.OPT_INDENT_2) + b"\n"


def read_route(path: Path) -> RouteFit:
    """Read a file.

    Raises:
        RouteFileError: it cannot be read, or is not what was written; the message has the command that makes one.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise RouteFileError(f"{path} cannot be read: {error.strerror}. Make it with: {COMMAND}") from error
    return parse_route(path, data)


def parse_route(path: Path, data: bytes) -> RouteFit:
    """Read what a file holds; ``path`` is named in errors.

    Raises:
        RouteFileError: as `read_route`.
    """
    anew = f"Make it anew with: {COMMAND}"
    if len(data) > LARGEST_FILE:
        raise RouteFileError(f"{path} is longer than {LARGEST_FILE} bytes and no route. {anew}")
    try:
        content = orjson.loads(data)
        file = _File.model_validate(content)
        predictor = parse_estimator(path, orjson.dumps(file.predictor))
    except orjson.JSONDecodeError as error:
        raise RouteFileError(f"{path} is no JSON: {error}. {anew}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise RouteFileError(f"{path}: {place}: {first['msg']}. {anew}") from error
    except EstimatorError as error:
        raise RouteFileError(f"{error.message} {anew}") from error
    if file.digest != _digest({name: value for name, value in content.items() if name != "digest"}):
        raise RouteFileError(f"{path} was changed after it was written: its digest is another. {anew}")
    if set(file.tasks) != set(predictor.tasks):
        raise RouteFileError(f"{path} has thresholds and predictions for different task types. {anew}")
    return RouteFit(
        small=RouteEnd(name=file.small.name, digest=file.small.digest),
        large=RouteEnd(name=file.large.name, digest=file.large.digest),
        digest=file.digest,
        tasks={
            name: TaskRoute(model=predictor.tasks[name], threshold=task.threshold, threshold_alone=task.threshold_alone)
            for name, task in file.tasks.items()
        },
    )


def _digest(content: Mapping[str, object]) -> str:
    return content_digest(canonical(content))[:16]
