"""Shapes of the answers, for the OpenAPI document only: answers are written as plain values."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from unmask.types import ExitReason, FinishReason

_EXACT = ConfigDict(extra="forbid")


class AnswerMessage(BaseModel):
    """The answer's text."""

    model_config = _EXACT

    role: Literal["assistant"]
    content: str
    refusal: None


class Choice(BaseModel):
    """The one answer."""

    model_config = _EXACT

    index: int
    message: AnswerMessage
    logprobs: None
    finish_reason: FinishReason = Field(
        description="`stop`: the text reached its end or a stop sequence. `length`: it was cut."
    )


class PromptTokensDetails(BaseModel):
    """How the prompt was taken in."""

    model_config = _EXACT

    cached_tokens: int = Field(description="Prompt tokens found in the prefix cache.")


class DiffusionUsage(BaseModel):
    """Denoise steps: what they were allowed to be, and what they were."""

    model_config = _EXACT

    steps_allocated: int
    steps_used: int
    canvases: int
    tokens_per_step: float
    exit_reason: ExitReason


class AnswerUsage(BaseModel):
    """What the request cost."""

    model_config = _EXACT

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: PromptTokensDetails
    diffusion: DiffusionUsage


class ChatCompletion(BaseModel):
    """A chat completion object of the OpenAI API, with `usage.diffusion`."""

    model_config = _EXACT

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    system_fingerprint: str = Field(description="Digest of the model's weights.")
    choices: list[Choice]
    usage: AnswerUsage


class ModelEntry(BaseModel):
    """A served model and what may be asked of it."""

    model_config = _EXACT

    id: str
    object: Literal["model"]
    created: int = Field(description="When this server loaded it.")
    owned_by: str
    digest: str
    parameters: int
    context_length: int
    canvas_length: int = Field(description="Canvas length of requests that name none.")
    canvas_lengths: list[int]
    max_steps: int = Field(description="The most denoise steps a request may allow one canvas.")
    default_steps: int
    default_max_tokens: int
    tasks: list[str]


class ModelList(BaseModel):
    """The served models."""

    model_config = _EXACT

    object: Literal["list"]
    data: list[ModelEntry]


class Health(BaseModel):
    """Whether the server runs, whether it takes requests, and if not, why."""

    model_config = _EXACT

    live: bool
    ready: bool
    reasons: list[str]


class ErrorFields(BaseModel):
    """What went wrong."""

    model_config = _EXACT

    message: str = Field(description="What was sent, what is allowed and how to put it right.")
    type: str
    param: str | None = Field(description="The field at fault, such as `diffusion.max_steps`.")
    code: str | None


class ErrorBody(BaseModel):
    """An error body of the OpenAI API."""

    model_config = _EXACT

    error: ErrorFields
