"""Shapes of the answers, for the OpenAPI document only: answers are written as plain values."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from unmask.api.documented_routes import RouteEntry
from unmask.api.documented_usage import AnswerUsage, ChoiceDiffusion, SpentUsage, without_default
from unmask.backend import Lever, PieceState
from unmask.types import ApproximateCache, FinishReason, Precision

_EXACT = ConfigDict(extra="forbid")
_FINISH = "`stop`: the text reached its end or a stop sequence. `length`: it was cut."
_SEVERAL = "Only where there are several choices, once the choice has ended."


class TopLogprob(BaseModel):
    """A token that might stand somewhere."""

    model_config = _EXACT

    token: str = Field(description="Its text; bytes that are none by themselves are escaped.")
    logprob: float = Field(le=0, description="In nats, of the model's own distribution; -9999 at the least.")
    bytes: list[int]


class TokenLogprobs(TopLogprob):
    """A token of the answer and the likeliest ones at the step that fixed it."""

    top_logprobs: list[TopLogprob]


class ChatLogprobs(BaseModel):
    """Log-probabilities of a message, or of a part of it."""

    model_config = _EXACT

    content: list[TokenLogprobs]
    refusal: None


class TextLogprobs(BaseModel):
    """Log-probabilities of a text, or of a part of it."""

    model_config = _EXACT

    tokens: list[str]
    token_logprobs: list[float]
    top_logprobs: list[dict[str, float]] = Field(description="The likeliest tokens, and the chosen one in any case.")
    text_offset: list[int] = Field(description="Characters of the choice before each token, any echo included.")


class AnswerMessage(BaseModel):
    """The answer's text."""

    model_config = _EXACT

    role: Literal["assistant"]
    content: str
    refusal: None


class ChatChoice(BaseModel):
    """One answer."""

    model_config = _EXACT

    index: int
    message: AnswerMessage
    logprobs: ChatLogprobs | None
    finish_reason: FinishReason = Field(description=_FINISH)
    diffusion: ChoiceDiffusion | None = Field(default=None, description=_SEVERAL)


class Delta(BaseModel):
    """The next part of a message: its role first, then pieces of its text."""

    model_config = _EXACT

    role: Literal["assistant"] | None = None
    content: str | None = None
    refusal: None = None


class ChunkChoice(BaseModel):
    """The next part of one answer."""

    model_config = _EXACT

    index: int
    delta: Delta
    logprobs: ChatLogprobs | None
    finish_reason: FinishReason | None = Field(description=f"{_FINISH} Only on the last part of a choice.")
    diffusion: ChoiceDiffusion | None = Field(default=None, description=_SEVERAL)


class TextChoice(BaseModel):
    """One text."""

    model_config = _EXACT

    index: int
    text: str
    logprobs: TextLogprobs | None
    finish_reason: FinishReason = Field(description=_FINISH)
    diffusion: ChoiceDiffusion | None = Field(default=None, description=_SEVERAL)


class TextChunkChoice(TextChoice):
    """The next part of one text."""

    finish_reason: FinishReason | None = Field(  # type: ignore[assignment]
        description=f"{_FINISH} Only on the last part of a choice."
    )


class SnapshotPiece(BaseModel):
    """One token of a draft."""

    model_config = _EXACT

    text: str
    state: PieceState


class Snapshot(BaseModel):
    """The canvas of a choice after a step."""

    model_config = _EXACT

    index: int = Field(description="The choice.")
    canvas: int = Field(description="Counted from 0.")
    step: int = Field(description="Of this canvas, counted from 1.")
    max_steps: int = Field(description="The most steps that this canvas may take.")
    pieces: list[SnapshotPiece]


class _Envelope(BaseModel):
    model_config = _EXACT

    id: str
    created: int
    model: str
    system_fingerprint: str = Field(description="Digest of the model's weights.")
    service_tier: str | None = Field(
        default=None, description="The tier that was served; left out where none was asked for."
    )


class ChatCompletion(_Envelope):
    """A chat completion object of the OpenAI API, with `usage.diffusion`."""

    object: Literal["chat.completion"]
    choices: list[ChatChoice]
    usage: AnswerUsage


class TextCompletion(_Envelope):
    """A completion object of the OpenAI API, with `usage.diffusion`."""

    object: Literal["text_completion"]
    choices: list[TextChoice]
    usage: AnswerUsage


class _Chunk(_Envelope):
    usage: AnswerUsage | None = Field(
        default=None, description="With `stream_options.include_usage`: on the last chunk, and null on the others."
    )
    diffusion_snapshot: Snapshot | None = Field(
        default=None, description="On events of the name `unmask.snapshot`, which have no choices."
    )


class ChatCompletionChunk(_Chunk):
    """A chunk of a streamed chat completion."""

    object: Literal["chat.completion.chunk"]
    choices: list[ChunkChoice]


class TextCompletionChunk(_Chunk):
    """A chunk of a streamed completion."""

    object: Literal["text_completion"]
    choices: list[TextChunkChoice]


class ModelEntry(BaseModel):
    """A served model and what may be asked of it."""

    model_config = _EXACT

    id: str
    object: Literal["model"]
    created: int = Field(description="When this server loaded it.")
    owned_by: str
    digest: str
    parameters: int | None = Field(description="Null where the server behind this one does not say.")
    precision: Precision | None = Field(
        description="What weights and products are in, unless the policy has another; it may change an answer. Null "
        "where the server behind this one does not say."
    )
    precisions: list[Precision] = Field(description="Those that a policy may choose; none where it may not.")
    approximate_cache: ApproximateCache | None = Field(
        description="Whether keys and values are kept from step to step that a step would change, which may change an "
        "answer. Null where the server behind this one does not say."
    )
    approximate_cache_refresh: int | None = Field(
        description="Steps of a canvas after which they are computed anew; null: at its first step alone."
    )
    context_length: int
    canvas_length: int = Field(description="Canvas length of requests that name none.")
    canvas_lengths: list[int] = Field(description="What a request may choose among; empty where it may not.")
    max_steps: int = Field(description="The most denoise steps a request may allow one canvas.")
    default_steps: int
    default_max_tokens: int
    levers: list[Lever] = Field(
        description="What a request may set beside text and sampling; without `budget` steps and canvases are refused."
    )
    tasks: list[str] = Field(description="Task types that `diffusion.task` may name.")
    service_classes: list[str] = Field(description="Of the policy, the default one first; none without a policy.")
    policy: str = Field(description="Short digest of the approved policy in force, or `fixed`.")
    route: RouteEntry | None = Field(default=None, description="Only of a route, which two models serve.")


class ModelList(BaseModel):
    """The served models."""

    model_config = _EXACT

    object: Literal["list"]
    data: list[ModelEntry]


class Replica(BaseModel):
    """One of the engines or servers that requests for a model are spread over."""

    model_config = _EXACT

    model: str
    name: str
    running: int
    waiting: int
    prefix_hit_rate: float | None = Field(
        description="Share of the prompt tokens of what it answered that its prefix cache had; null before any."
    )
    problem: str | None = Field(description="What keeps requests away from it; null while nothing does.")


class Health(BaseModel):
    """Whether the server runs, whether it takes requests, and if not, why."""

    model_config = _EXACT

    live: bool
    ready: bool
    reasons: list[str]
    degraded: list[str] = Field(
        description="What makes answers worse or later than they might be, while requests are taken: quality taken "
        "back under load, KV pages that run out."
    )
    notes: list[str] = Field(
        description="What is worth knowing and keeps no request out: a missing policy, a queue that falls behind."
    )
    replicas: list[Replica]


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
    usage: SpentUsage | None = Field(
        default=None,
        description="Only where a limit of its class fails a request: what it took all the same.",
        json_schema_extra=without_default,
    )
