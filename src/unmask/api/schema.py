"""The body of a chat completion request, field by field; strict, so that ``"8"``, ``8.0`` and ``true`` are no numbers.

What is allowed where, in words: `unmask.api.rules`.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, JsonValue, Tag

from unmask.types import StrategyName

TEXT_TAG = "<text>"
PARTS_TAG = "<parts>"
LEAST_SEED = -(1 << 63)
LARGEST_SEED = (1 << 63) - 1
MOST_STOPS = 4
MOST_METADATA = 16
EXAMPLE: dict[str, JsonValue] = {
    "model": "tiny",
    "messages": [{"role": "user", "content": "add 12 + 30"}],
    "max_tokens": 32,
    "diffusion": {"max_steps": 8},
}

_STRICT = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


def _text_or_parts(value: object) -> str:
    return PARTS_TAG if isinstance(value, list) else TEXT_TAG


class TextPart(BaseModel):
    """A piece of a message; pieces are joined as they are."""

    model_config = _STRICT

    type: Literal["text"]
    text: str


_Content = Annotated[
    Annotated[str, Tag(TEXT_TAG)] | Annotated[list[TextPart], Tag(PARTS_TAG)], Discriminator(_text_or_parts)
]
_Filled = Annotated[str, Field(min_length=1)]
_Stop = Annotated[
    Annotated[_Filled, Tag(TEXT_TAG)]
    | Annotated[list[_Filled], Tag(PARTS_TAG), Field(min_length=1, max_length=MOST_STOPS)],
    Discriminator(_text_or_parts),
]


class ChatMessage(BaseModel):
    """One message of the chat."""

    model_config = _STRICT

    role: Literal["system", "developer", "user", "assistant"] = Field(
        description="`developer` means the same as `system`."
    )
    content: _Content = Field(description="Text, or text parts; never empty.")


class DiffusionOptions(BaseModel):
    """How the answer is denoised."""

    model_config = _STRICT

    max_steps: int | None = Field(
        default=None,
        ge=1,
        description="Most denoise steps of one canvas, up to the model's limit in `/v1/models`.",
    )
    max_total_steps: int | None = Field(
        default=None,
        ge=1,
        description="Most denoise steps of the whole answer. By default `max_steps` times the canvases "
        "that `max_tokens` allows.",
    )
    canvas_length: int | None = Field(
        default=None, ge=1, description="Tokens of a canvas; one of the model's `canvas_lengths`."
    )
    strategy: Annotated[StrategyName, Field(strict=False)] | None = Field(
        default=None, description="Which positions a step reveals. By default `low_confidence`."
    )
    threshold: float | None = Field(
        default=None,
        ge=0,
        description="Threshold of the strategy: a probability, or for `entropy_bound` and `prophet` a number of "
        "nats. By default the strategy's own.",
    )


class ChatBody(BaseModel):
    """A chat completion request. A field that is not listed here is refused, never ignored."""

    model_config = ConfigDict(**_STRICT, title="ChatCompletionRequest", json_schema_extra={"examples": [EXAMPLE]})

    model: str = Field(description="Name of a served model.")
    messages: list[ChatMessage] = Field(min_length=1, description="The chat so far; the last message is the user's.")
    max_tokens: int | None = Field(default=None, ge=1, description="Most tokens of the answer.")
    max_completion_tokens: int | None = Field(default=None, ge=1, description="The newer name of `max_tokens`.")
    temperature: float | None = Field(
        default=None, ge=0, le=2, description="0, the default, takes the likeliest token everywhere."
    )
    top_p: float | None = Field(default=None, gt=0, le=1, description="Draws from the likeliest tokens only.")
    seed: int | None = Field(
        default=None,
        ge=LEAST_SEED,
        le=LARGEST_SEED,
        description="Same seed, same answer. By default drawn for each request.",
    )
    stop: _Stop | None = Field(default=None, description="The answer ends before the first of these texts.")
    diffusion: DiffusionOptions | None = Field(default=None, description="How the answer is denoised.")
    num_denoising_steps: int | None = Field(default=None, ge=1, description="Another name of `diffusion.max_steps`.")
    user: str | None = Field(default=None, description="The client's own note; changes nothing.")
    metadata: dict[str, str] | None = Field(
        default=None, max_length=MOST_METADATA, description="The client's own notes; they change nothing."
    )
