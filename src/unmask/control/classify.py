"""The task type of a request that names none: recognised by the task types' own readers, or left open.

A prompt that no reader knows is not guessed at. It is of `DEFAULT_TASK`, which costs
steps and nothing else, while a wrong task type brings a budget and an exit rule that
were never measured for it. How often a recognised task type is right has been
measured, with `unmask tune classifier`, on prompts made to mislead among others; the
result is a file of the package, and the confidence comes from there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from unmask.control.sources import Classified
from unmask.errors import UnmaskError
from unmask.policy.policy import DEFAULT_TASK
from unmask.stats import Interval, wilson
from unmask.tasks.domain import recognise
from unmask.types import Message

LEAST_CONFIDENCE = 0.9
"""Below this a recognised task type is not relied on."""


class ClassifierError(UnmaskError):
    """The measured reliability of the prompt classifier cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """Measured prompts that were recognised as one task type, and how many of them were of it."""

    recognised: int
    right: int

    @property
    def confidence(self) -> float:
        """Lower end of the 95 % Wilson interval; 0 where nothing was measured."""
        interval = wilson(self.right, self.recognised)
        return interval.low if isinstance(interval, Interval) else 0.0


class Classifier:
    """Finds the task type of prompts. Recognising one takes from ten to a few hundred microseconds."""

    def __init__(self, reliability: Mapping[str, Reliability], *, least_confidence: float = LEAST_CONFIDENCE) -> None:
        self._confidence = {task: measured.confidence for task, measured in reliability.items()}
        self._least = least_confidence

    def classify(self, messages: tuple[Message, ...]) -> Classified:
        """Return the task type of a conversation's last message; one that was never measured has confidence 0.

        The confidence is the lower end of the 95 % interval of how often a prompt recognised as a task type is of it.
        """
        task = recognise(messages)
        if task is None:
            return Classified(task=DEFAULT_TASK, confidence=0.0)
        confidence = self._confidence.get(task, 0.0)
        return Classified(task=task if confidence >= self._least else DEFAULT_TASK, confidence=confidence)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Measured(_Strict):
    recognised: Annotated[int, Field(ge=0)]
    right: Annotated[int, Field(ge=0)]

    @model_validator(mode="after")
    def _is_share(self) -> "_Measured":
        if self.right > self.recognised:
            raise ValueError("more are right than were recognised")
        return self


class _ReliabilityFile(_Strict):
    format: Literal["unmask-classifier"] = "unmask-classifier"
    version: Literal[1] = 1
    seed: int
    items: Annotated[int, Field(ge=1)]
    tasks: dict[str, _Measured]


def write_reliability(path: Path, reliability: Mapping[str, Reliability], *, seed: int, items: int) -> None:
    """Write what was measured with a seed and so many prompts of each kind.

    Raises:
        ClassifierError: the file cannot be written.
    """
    content = _ReliabilityFile(
        seed=seed,
        items=items,
        tasks={task: _Measured(recognised=m.recognised, right=m.right) for task, m in reliability.items()},
    )
    try:
        path.write_text(f"{content.model_dump_json(indent=2)}\n", encoding="utf-8")
    except OSError as error:
        raise ClassifierError(f"{path} cannot be written: {error.strerror}. Name another file.") from error


def read_reliability(path: Path) -> dict[str, Reliability]:
    """Read what was measured.

    Raises:
        ClassifierError: the file is missing or damaged.
    """
    try:
        return _parsed(path.read_bytes(), str(path))
    except OSError as error:
        raise ClassifierError(f"{path} cannot be read: {error.strerror}. {_ANEW}") from error


@cache
def packaged_classifier() -> Classifier:
    """Return the classifier as it was measured for this package."""
    return Classifier(_parsed(files("unmask.control").joinpath("classifier.json").read_bytes(), "classifier.json"))


_ANEW = "Make it anew with: unmask tune classifier --out FILE."


def _parsed(data: bytes, name: str) -> dict[str, Reliability]:
    try:
        content = _ReliabilityFile.model_validate_json(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ClassifierError(f"{name}: {place}: {first['msg']}. {_ANEW}") from error
    return {task: Reliability(recognised=m.recognised, right=m.right) for task, m in content.tasks.items()}
