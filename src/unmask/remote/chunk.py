"""One chunk of a streamed chat completion, read out of JSON that somebody else wrote.

Servers add fields of their own, so unknown ones are read past; those that are known have to have their type. The wire
format is that of the OpenAI API, "The chat completion chunk object".
"""

from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

Count = Annotated[int, Field(ge=0, le=1 << 40)]


class _Part(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(strict=True, extra="ignore", frozen=True)


class TopLogprob(_Part):
    """A token that might have stood there."""

    token: str
    logprob: float
    data: list[Annotated[int, Field(ge=0, le=255)]] | None = Field(default=None, alias="bytes")


class LogprobEntry(TopLogprob):
    """A token of the text."""

    top_logprobs: list[TopLogprob] = []


class LogprobPart(_Part):
    """Log-probabilities of the text beside them."""

    content: list[LogprobEntry] | None = None


class Delta(_Part):
    """What is new of a message; a first one often has the role alone."""

    content: str | None = None
    tool_calls: list[object] | None = None


class ChunkChoice(_Part):
    """What is new of a choice."""

    index: int = 0
    delta: Delta = Delta()
    finish_reason: str | None = None
    logprobs: LogprobPart | None = None


class PromptDetails(_Part):
    """How the prompt was taken in."""

    cached_tokens: Count | None = None


class DiffusionPart(_Part):
    """What our own servers say of steps."""

    steps_allocated: Count
    steps_used: Count
    canvases: Count
    exit_reason: str
    steps_known: bool = True


class UsagePart(_Part):
    """What the request cost, by the upstream's count."""

    prompt_tokens: Count
    completion_tokens: Count
    prompt_tokens_details: PromptDetails | None = None
    diffusion: DiffusionPart | None = None


class ErrorPart(_Part):
    """An error inside a stream; some servers write a text only."""

    message: str = ""


class Chunk(_Part):
    """An event of the stream. ``error`` stands in place of everything else."""

    model: str | None = None
    choices: list[ChunkChoice] = []
    usage: UsagePart | None = None
    error: ErrorPart | str | None = None


class ChunkError(Exception):
    """A chunk is no JSON, or a field that is known has another type; its message says which."""


def read_chunk(data: str) -> Chunk:
    """Read one chunk.

    Raises:
        ChunkError: it is none.
    """
    try:
        return Chunk.model_validate_json(data)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, found["loc"])) or "the event"
        raise ChunkError(f"{place}: {found['msg']}") from error
