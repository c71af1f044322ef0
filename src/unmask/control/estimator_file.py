"""The file of a difficulty estimator: plain JSON with a digest of itself, nothing in it is ever run."""

from pathlib import Path
from typing import Annotated, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from unmask.control.difficulty import Estimator, TaskModel
from unmask.control.features import FEATURES
from unmask.control.forest import LEAF, Forest, Tree
from unmask.errors import UnmaskError, shown
from unmask.policy.digest import canonical, content_digest

FORMAT = "unmask-difficulty"
VERSION = 1
LARGEST_FILE = 1 << 23
"""Bytes; an estimator of six task types has a few hundred thousand."""
MOST_NODES = 255
"""Nodes of a tree, so that a walk is short."""
MOST_TREES = 1 << 9

Finite = Annotated[float, Field(allow_inf_nan=False)]


class EstimatorError(UnmaskError):
    """A difficulty estimator cannot be used."""


class EstimatorMissingError(EstimatorError):
    """There is no file, or it cannot be read."""


class EstimatorDamagedError(EstimatorError):
    """The file is not what was written: cut short, changed, or no estimator at all."""


class EstimatorVersionError(EstimatorError):
    """The file is of another version of the format, or was trained on other features."""


class EstimatorMismatchError(EstimatorError):
    """The file is a sound estimator, and not the one that is wanted: another digest, or another model's."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _TreeFile(_Strict):
    feature: list[int] = Field(min_length=1, max_length=MOST_NODES)
    threshold: list[Finite]
    below: list[int]
    above: list[int]
    value: list[Finite]

    @model_validator(mode="after")
    def _is_tree(self) -> "_TreeFile":
        size = len(self.feature)
        if {len(self.threshold), len(self.below), len(self.above), len(self.value)} != {size}:
            raise ValueError("columns of a tree have different lengths")
        children: list[int] = []
        for node, feature in enumerate(self.feature):
            if not LEAF <= feature < len(FEATURES):
                raise ValueError(f"node {node} reads feature {feature}, allowed: {LEAF} to {len(FEATURES) - 1}")
            if feature != LEAF:
                children += (self.below[node], self.above[node])
                if not node < min(children[-2:]) <= max(children[-2:]) < size:
                    raise ValueError(f"children of node {node} do not lie behind it")
        if sorted(children) != list(range(1, size)):
            raise ValueError("every node but the root has one parent")
        return self

    def tree(self) -> Tree:
        return Tree(
            feature=tuple(self.feature),
            threshold=tuple(self.threshold),
            below=tuple(self.below),
            above=tuple(self.above),
            value=tuple(self.value),
        )


class _TaskFile(_Strict):
    base: Finite
    trees: list[_TreeFile] = Field(max_length=MOST_TREES)
    ranges: list[list[Finite]] = Field(min_length=len(FEATURES), max_length=len(FEATURES))
    bins: list[Finite]

    @model_validator(mode="after")
    def _is_ordered(self) -> "_TaskFile":
        if any(len(ends) != 2 or ends[0] > ends[1] for ends in self.ranges):
            raise ValueError("a range is not two numbers in order")
        if self.bins != sorted(self.bins):
            raise ValueError("bins are not ascending")
        return self

    def model(self) -> TaskModel:
        return TaskModel(
            forest=Forest(self.base, tuple(tree.tree() for tree in self.trees)),
            ranges=tuple((low, high) for low, high in self.ranges),
            bins=tuple(self.bins),
        )


class _EstimatorFile(_Strict):
    format: Literal["unmask-difficulty"]
    version: int
    model: str
    model_digest: str
    features: list[str]
    tasks: dict[str, _TaskFile]
    digest: str


def estimator_content(*, model: str, model_digest: str, tasks: dict[str, TaskModel]) -> bytes:
    """Return an estimator as its file holds it."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "model": model,
        "model_digest": model_digest,
        "features": list(FEATURES),
        "tasks": {name: _plain(task) for name, task in tasks.items()},
    }
    return orjson.dumps({**content, "digest": _digest(content)})


def write_estimator(path: Path, *, model: str, model_digest: str, tasks: dict[str, TaskModel]) -> Estimator:
    """Write an estimator, and return it with its digest.

    Raises:
        EstimatorMissingError: the file cannot be written.
    """
    content = estimator_content(model=model, model_digest=model_digest, tasks=tasks)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise EstimatorMissingError(f"{path} cannot be written: {error.strerror}. Name another file.") from error
    return parse_estimator(path, content)


def read_estimator(path: Path, *, digest: str | None = None, model_digest: str | None = None) -> Estimator:
    """Read an estimator.

    Args:
        path: its file.
        digest: the one it must have, as a policy names it; ``None`` takes any.
        model_digest: that of the model it must have been trained on; ``None`` takes any.

    Raises:
        EstimatorError: which of the subclasses says what is wrong.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise EstimatorMissingError(
            f"{path} cannot be read: {error.strerror}. Make it with: unmask tune difficulty."
        ) from error
    file_of = _parsed(path, data)
    if digest is not None and file_of.digest != digest:
        raise EstimatorMismatchError(
            f"{path} is the estimator {file_of.digest}, allowed: {digest}, which the policy was calibrated with. "
            "Bring that file back, or tune anew."
        )
    if model_digest is not None and file_of.model_digest != model_digest:
        raise EstimatorMismatchError(
            f"{path} was trained on the model {file_of.model_digest}, allowed: {model_digest}. Tune anew for it."
        )
    return _estimator(file_of)


def parse_estimator(path: Path, data: bytes) -> Estimator:
    """Read an estimator from what a file holds, or a part of it; ``path`` is named in errors.

    Raises:
        EstimatorError: which of the subclasses says what is wrong.
    """
    return _estimator(_parsed(path, data))


def _estimator(file_of: _EstimatorFile) -> Estimator:
    return Estimator(
        model=file_of.model,
        model_digest=file_of.model_digest,
        digest=file_of.digest,
        tasks={name: task.model() for name, task in file_of.tasks.items()},
    )


def _parsed(path: Path, data: bytes) -> _EstimatorFile:
    if len(data) > LARGEST_FILE:
        raise EstimatorDamagedError(f"{path} is longer than {LARGEST_FILE} bytes and no estimator. {_ANEW}")
    try:
        content = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise EstimatorDamagedError(f"{path} is no JSON: {error}. {_ANEW}") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise EstimatorDamagedError(f"{path} is no difficulty estimator. {_ANEW}")
    if content.get("version") != VERSION:
        raise EstimatorVersionError(f"{path} has version {shown(content.get('version'))}, allowed: {VERSION}. {_ANEW}")
    digest = content.pop("digest", None)
    if digest is None or digest != _digest_or_none(content):
        raise EstimatorDamagedError(f"{path} was changed after it was written: its digest is another. {_ANEW}")
    if content.get("features") != list(FEATURES):
        raise EstimatorVersionError(f"{path} was trained on other features than these: {', '.join(FEATURES)}. {_ANEW}")
    try:
        return _EstimatorFile.model_validate({**content, "digest": digest})
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise EstimatorDamagedError(f"{path}: {place}: {first['msg']}. {_ANEW}") from error


_ANEW = "Make it anew with: unmask tune difficulty."


def _digest(content: dict[str, object]) -> str:
    return content_digest(canonical(content))[:16]


def _digest_or_none(content: dict[str, object]) -> str | None:
    """Return the digest of what a file holds; nothing where that is nested too deeply to be written again."""
    try:
        return _digest(content)
    except TypeError:
        return None


def _plain(task: TaskModel) -> dict[str, object]:
    return {
        "base": task.forest.base,
        "trees": [
            {
                "feature": list(tree.feature),
                "threshold": list(tree.threshold),
                "below": list(tree.below),
                "above": list(tree.above),
                "value": list(tree.value),
            }
            for tree in task.forest.trees
        ],
        "ranges": [list(ends) for ends in task.ranges],
        "bins": list(task.bins),
    }
