"""Shapes of the answers, for the OpenAPI document only: answers are written as plain values."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from unmask.api.documented_routes import Routed, RouteEntry
from unmask.api.documented_search import SearchUsage
from unmask.backend import Lever, PieceState
from unmask.cache.cache import Match
from unmask.control.answered import Cap
from unmask.control.budget import BudgetSource
from unmask.types import Bucket, ExitReason, FinishReason, Precision, Verification

_EXACT = ConfigDict(extra="forbid")
_FINISH = "`stop`: the text reached its end or a stop sequence. `length`: it was cut."
_SEVERAL = "Only where there are several choices, once the choice has ended."


def _without_default(schema: JsonDict) -> None:
    # FastAPI leaves a default of null out, and what is described in two places has to be described alike.
    schema.pop("default")


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


class Difficulty(BaseModel):
    """How hard a request looked before its first step."""

    model_config = _EXACT

    score: float = Field(description="Log2 of the denoise steps a canvas seems to need.")
    bin: int = Field(description="Difficulty bin, from 0 for the easiest.")


_ROUTED = "Only where the model asked for is a route."


class CacheFound(BaseModel):
    """What the server's cache of answers had; of several choices the oldest answer and the least alike."""

    model_config = _EXACT

    hit: Match | Literal["mixed"] = Field(
        description="`exact`: the same words were answered before. `semantic`: others that ask the same were. `miss`: "
        "the answer was generated."
    )
    entry: str | None = Field(description="Id of the answer that was given again; an operator may remove it.")
    age_s: float | None = Field(description="How old it is.")
    similarity: float | None = Field(description="Cosine of both questions, 1 of the same.")


class ChoiceDiffusion(BaseModel):
    """What one of several choices cost."""

    model_config = _EXACT

    steps_used: int
    steps_known: bool = Field(
        description="False where the server behind this one does not say its steps: then `steps_used` is 0, which "
        "means nothing, unless it is estimated."
    )
    steps_estimated: bool = Field(description="Whether `steps_used` is estimated from counters of that server.")
    cap_ignored: bool = Field(
        description="Whether that shows that the server took more steps than it was told to; they are not charged."
    )
    tokens_known: bool = Field(description="The same of numbers of tokens.")
    canvases: int
    drafted: int = Field(description="Drafted tokens that speculative steps verified; 0 in other modes.")
    accepted: int = Field(description="Those of them that became output.")
    accepted_per_round: float = Field(description="The same per step: a round verifies one draft and makes the next.")
    exit_reason: ExitReason
    verify: Verification
    reexpansions: int
    steps_reexpansion: int
    steps_verify: int
    steps_search: int
    search: SearchUsage | None
    cap_applied: Cap | None
    bucket: Bucket | None
    task: str
    difficulty: Difficulty | None
    budget_source: BudgetSource
    precision: Precision | None
    control: bool
    route: Routed | None = Field(default=None, description=_ROUTED, json_schema_extra=_without_default)
    cache: CacheFound | None


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


class PromptTokensDetails(BaseModel):
    """How the prompt was taken in."""

    model_config = _EXACT

    cached_tokens: int = Field(description="Prompt tokens found in the prefix cache.")


class DiffusionUsage(BaseModel):
    """Denoise steps: what they were allowed to be, and what they were."""

    model_config = _EXACT

    steps_allocated: int
    steps_used: int
    steps_known: bool = Field(
        description="False where the server behind this one does not say its steps: then `steps_used` is 0, which "
        "means nothing, unless it is estimated."
    )
    steps_estimated: bool = Field(description="Whether `steps_used` is estimated from counters of that server.")
    cap_ignored: bool = Field(
        description="Whether that shows that the server took more steps than it was told to; they are not charged."
    )
    tokens_known: bool = Field(description="The same of numbers of tokens.")
    prompt_tokens_saved: int = Field(description="Tokens that refinement has cut from the prompt, as counted here.")
    canvases: int
    drafted: int = Field(description="Drafted tokens that speculative steps verified; 0 in other modes.")
    accepted: int = Field(description="Those of them that became output.")
    accepted_per_round: float = Field(description="The same per step: a round verifies one draft and makes the next.")
    tokens_per_step: float
    exit_reason: ExitReason | Literal["mixed"]
    verify: Verification
    reexpansions: int = Field(description="Further attempts after a failed verification.")
    steps_reexpansion: int = Field(description="Denoise steps of these; part of `steps_used`.")
    steps_verify: int = Field(description="Denoise steps of samples that answers were compared with; part of it too.")
    steps_search: int = Field(description="Denoise steps that a search took beside the answer's; part of it too.")
    search: SearchUsage | None = Field(description="Null where no choice was searched.")
    cap_applied: Cap | Literal["mixed"] | None = Field(description="The limit that an answer met, if it met one.")
    bucket: Bucket | None = Field(description="The budget tier, where choices share one.")
    policy: str = Field(description="Short digest of the policy, or `fixed`.")
    task: str | None = Field(description="The task type, where choices share one.")
    service_class: str | None = Field(description="Null where no policy is approved.")
    difficulty: Difficulty | None = Field(description="Where it was estimated and choices share it.")
    budget_source: BudgetSource | None = Field(description="What the budget was taken from, where choices share it.")
    precision: Precision | None = Field(description="What the call ran in, where it is known and choices share it.")
    control: bool = Field(description="Whether a choice was a control run, which takes its whole budget.")
    route: Routed | None = Field(default=None, description=_ROUTED, json_schema_extra=_without_default)
    cache: CacheFound | None = Field(description="Null where the cache was not asked for every choice.")


class AnswerUsage(BaseModel):
    """What the call cost, all choices together."""

    model_config = _EXACT

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: PromptTokensDetails
    diffusion: DiffusionUsage
    cost: float | None = Field(
        default=None,
        description="In units of money, where calls are booked; null where the model has no price.",
        json_schema_extra=_without_default,
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


class Health(BaseModel):
    """Whether the server runs, whether it takes requests, and if not, why."""

    model_config = _EXACT

    live: bool
    ready: bool
    reasons: list[str]
    notes: list[str] = Field(
        description="What is worth knowing and keeps no request out: a missing policy, a queue that falls behind."
    )


class ErrorFields(BaseModel):
    """What went wrong."""

    model_config = _EXACT

    message: str = Field(description="What was sent, what is allowed and how to put it right.")
    type: str
    param: str | None = Field(description="The field at fault, such as `diffusion.max_steps`.")
    code: str | None


class SpentDiffusion(ChoiceDiffusion):
    """Steps of a request that is not answered."""

    steps_allocated: int


class SpentUsage(BaseModel):
    """What a request cost that is not answered."""

    model_config = _EXACT

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    diffusion: SpentDiffusion
    cost: float | None = Field(
        default=None,
        description="Of the whole call, where calls are booked; null where the model has no price.",
        json_schema_extra=_without_default,
    )


class ErrorBody(BaseModel):
    """An error body of the OpenAI API."""

    model_config = _EXACT

    error: ErrorFields
    usage: SpentUsage | None = Field(
        default=None,
        description="Only where a limit of its class fails a request: what it took all the same.",
        json_schema_extra=_without_default,
    )
