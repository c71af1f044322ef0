"""What judges are asked: criteria, each a question with a scale in words and the metric that it marks."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from unmask.gate.judges.documents import parse_document, read_document
from unmask.gate.score import Metric

FILE = "rubric.yaml"
_WHAT = "the rubric"


class When(StrEnum):
    """Which answers a criterion is asked of: all that its metric applies to, or those of which code read nothing."""

    ALWAYS = "always"
    UNREAD = "unread"


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One question to a judge.

    Attributes:
        scale: what each whole number means, the worst first.
        passes: value, in [0, 1], from which a mark is good enough.
        margin: how near to that, or how far apart votes, a person should look.
    """

    name: str
    metric: Metric
    when: When
    question: str
    scale: Mapping[int, str]
    passes: float
    margin: float

    def value(self, score: int) -> float:
        """Return where a number lies between the ends of the scale."""
        return (score - min(self.scale)) / (max(self.scale) - min(self.scale))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """All criteria, each metric at most once."""

    criteria: tuple[Criterion, ...]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    criterion: Annotated[str, Field(min_length=1)]
    metric: Annotated[Metric, BeforeValidator(lambda name: Metric(name) if isinstance(name, str) else name)]
    when: Annotated[When, BeforeValidator(lambda name: When(name) if isinstance(name, str) else name)]
    question: Annotated[str, Field(min_length=1)]
    scale: Annotated[dict[str, str], Field(min_length=2)]
    passes: Annotated[float, Field(ge=0, le=1)]
    margin: Annotated[float, Field(ge=0, le=1)]

    @field_validator("metric")
    @classmethod
    def _is_judged(cls, metric: Metric) -> Metric:
        if metric in {Metric.SECONDS, Metric.FORMAT}:
            raise ValueError(f"{metric} is measured and not judged")
        return metric

    @field_validator("scale")
    @classmethod
    def _is_whole(cls, scale: dict[str, str]) -> dict[str, str]:
        numbers = [int(number) for number in scale if number.isascii() and number.isdecimal()]
        if len(numbers) < len(scale) or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
            raise ValueError("a scale goes up by ones, the worst first")
        return scale


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    criteria: Annotated[list[_Entry], Field(min_length=1)]

    @model_validator(mode="after")
    def _is_unique(self) -> "_Document":
        for name in ("criterion", "metric"):
            values = [getattr(entry, name) for entry in self.criteria]
            twice = next((value for value in values if values.count(value) > 1), None)
            if twice is not None:
                raise ValueError(f"{name} {twice} is there twice")
        return self


def parse_rubric(text: str) -> Rubric:
    """Read a rubric.

    Raises:
        JudgeError: it is no YAML, or a field is unknown, missing or does not fit.
    """
    return _rubric(parse_document(text, _Document, _WHAT))


def read_rubric(path: Path) -> Rubric:
    """Read a rubric's file.

    Raises:
        JudgeError: as `parse_rubric`, or the file cannot be read.
    """
    return _rubric(read_document(path, _Document, _WHAT))


@cache
def load_rubric() -> Rubric:
    """Return the package's rubric."""
    return parse_rubric(files("unmask.gate.judges").joinpath(FILE).read_text(encoding="utf-8"))


def _rubric(document: _Document) -> Rubric:
    return Rubric(
        criteria=tuple(
            Criterion(
                name=entry.criterion,
                metric=entry.metric,
                when=entry.when,
                question=entry.question,
                scale=MappingProxyType({int(number): words for number, words in entry.scale.items()}),
                passes=entry.passes,
                margin=entry.margin,
            )
            for entry in document.criteria
        )
    )
