"""Which judges there are and how they are asked, read from a file."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from unmask.gate.judges.documents import read_document
from unmask.gate.judges.rubric import Rubric, load_rubric, read_rubric

MOST_VOTES = 25


class Api(StrEnum):
    """How a judge is spoken to: ``/v1/chat/completions``, ``/v1/messages``, or Amazon Bedrock's ``InvokeModel``."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    BEDROCK = "bedrock"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSettings:
    """One judge.

    Attributes:
        name: what its votes are kept under.
        url: base address without ``/v1``; of Bedrock the endpoint, where it is not the region's own.
        key_env: environment variable that holds the key; Bedrock takes AWS's own credentials instead.
        region: of Bedrock.
        token_field: what the OpenAI API calls ``max_tokens``; some models know ``max_completion_tokens`` only.
        temperature: left out of requests where ``None``, as some models take none.
        in_flight: most requests at the same time.
    """

    name: str
    api: Api
    model: str
    url: str | None
    key_env: str | None
    region: str | None
    max_tokens: int
    token_field: str
    temperature: float | None
    timeout_s: float
    in_flight: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelSettings:
    """All judges, how often each is asked the same, and what."""

    judges: tuple[JudgeSettings, ...]
    votes: int
    rubric: Rubric


class _Judge(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    name: Annotated[str, Field(min_length=1)]
    api: Annotated[Api, BeforeValidator(lambda name: Api(name) if isinstance(name, str) else name)]
    model: Annotated[str, Field(min_length=1)]
    url: Annotated[str, Field(pattern=r"^https?://")] | None = None
    key_env: Annotated[str, Field(min_length=1)] | None = None
    region: Annotated[str, Field(min_length=1)] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=100_000)] = 512
    token_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    timeout_s: Annotated[float, Field(gt=0, le=3600)] = 60.0
    in_flight: Annotated[int, Field(ge=1, le=1000)] = 4

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.api is Api.BEDROCK:
            if self.region is None or self.key_env is not None:
                raise ValueError("a bedrock judge has a region, and AWS's own credentials in place of key_env")
        elif self.url is None or self.region is not None:
            raise ValueError(f"a judge of the {self.api} API has a url and no region")
        return self


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    judges: Annotated[list[_Judge], Field(min_length=1)]
    votes: Annotated[int, Field(ge=1, le=MOST_VOTES)] = 3
    rubric: str | None = None

    @model_validator(mode="after")
    def _is_unique(self) -> Self:
        names = [judge.name for judge in self.judges]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"judge {twice} is there twice")
        return self


def read_panel(path: Path, votes: int | None = None) -> PanelSettings:
    """Read a file of judges; its rubric is relative to it, and the package's where it names none.

    Args:
        path: the file.
        votes: how often each judge is asked the same, in place of what the file says.

    Raises:
        JudgeError: a file cannot be read, or a field is unknown, missing or does not fit.
    """
    document = read_document(path, _Document, "the judge file")
    return PanelSettings(
        judges=tuple(JudgeSettings(**judge.model_dump()) for judge in document.judges),
        votes=votes or document.votes,
        rubric=load_rubric() if document.rubric is None else read_rubric(path.parent / document.rubric),
    )
