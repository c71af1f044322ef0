"""The fields that both generating endpoints take; strict, so that ``"8"`` and ``true`` are no numbers.

What is allowed where, in words: `unmask.api.rules`.
"""

from enum import StrEnum
from itertools import islice
from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, Tag
from pydantic.config import JsonDict

from unmask.api.effort import Effort
from unmask.api.format_schema import ResponseFormat
from unmask.api.refusals import STREAM_OPTIONS
from unmask.api.seeds import LARGEST_SEED, LEAST_SEED
from unmask.api.strict import STRICT, Strict, described, where
from unmask.api.verify_schema import Verifiers
from unmask.backend import HIGHEST_TEMPERATURE, MOST_STOPS
from unmask.service import MOST_WIDTH, Criticality, SearchMethod
from unmask.strategy import NAMED_STRATEGIES, StrategyName
from unmask.types import Mode

TEXT_TAG = "<text>"
PARTS_TAG = "<parts>"
MOST_CHOICES = 16
MOST_METADATA = 16
MOST_TOTAL_STEPS = 1_000_000_000
MOST_REEXPANSIONS = 16
MOST_WEIGHTS = 64
LARGEST_WEIGHT = 1_000
LARGEST_EXACT = (1 << 53) - 1
"""Up to here a float that is a whole number is the one that was sent."""
LONGEST_KEY = 64
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"
"""Of task types and service classes."""
LONGEST_LABEL = 512

_NULL: JsonDict = {"type": "null"}
_STREAMED: JsonDict = {"const": True}


class ServiceTier(StrEnum):
    """The tiers of the OpenAI API. Which service class each stands for is a setting."""

    AUTO = "auto"
    DEFAULT = "default"
    FLEX = "flex"
    PRIORITY = "priority"
    SCALE = "scale"
    FAST = "fast"


def text_or_parts(value: object) -> str:
    """Tell a text from a list, as tags of a union."""
    return PARTS_TAG if isinstance(value, list) else TEXT_TAG


def _whole(value: object) -> object:
    """Take 8.0 as 8: JSON does not tell them apart, and some clients write every number so.

    Beyond `LARGEST_EXACT` it stays what it is, for it may have been rounded: a
    whole number too long for 64 bits arrives here as a float.
    """
    if isinstance(value, float) and value.is_integer() and abs(value) <= LARGEST_EXACT:
        return int(value)
    return value


def _one_too_many(value: object) -> object:
    """Leave no more labels than it takes to be too many: each may be an error, and errors take time."""
    return dict(islice(value.items(), MOST_METADATA + 1)) if isinstance(value, dict) else value


WHOLE = BeforeValidator(_whole)
# Limits stand before it: behind a conversion pydantic leaves them out of the JSON Schema.
Positive = Annotated[int, Field(ge=1), WHOLE]
Weight = Annotated[float, Field(gt=0, le=LARGEST_WEIGHT)]
Filled = Annotated[str, Field(min_length=1)]
Label = Annotated[str, Field(max_length=LONGEST_LABEL)]
_Name = Annotated[str, Field(pattern=NAME_PATTERN)]
_Stop = Annotated[
    Annotated[Filled, Tag(TEXT_TAG)]
    | Annotated[list[Filled], Tag(PARTS_TAG), Field(min_length=1, max_length=MOST_STOPS, fail_fast=True)],
    Discriminator(text_or_parts),
]
_Metadata = Annotated[
    dict[Annotated[str, Field(max_length=LONGEST_KEY)], Label],
    Field(max_length=MOST_METADATA),
    BeforeValidator(_one_too_many),
]


_PROBABILITY = where(
    "threshold",
    {"type": "number", "exclusiveMinimum": 1},
    strategy={"enum": [strategy.value for strategy in NAMED_STRATEGIES if not strategy.has_bounded_threshold]},
)

NamedStrategy = Literal[
    StrategyName.LOW_CONFIDENCE,
    StrategyName.CONFIDENCE_THRESHOLD,
    StrategyName.ENTROPY_BOUND,
    StrategyName.KLASS,
    StrategyName.PROPHET,
    StrategyName.REMASK,
]
"""`NAMED_STRATEGIES` as a type."""


class StreamOptions(Strict):
    """What a stream holds beside the answer."""

    model_config = ConfigDict(**STRICT, json_schema_extra=described(STREAM_OPTIONS))

    include_usage: bool | None = Field(
        default=None, description="Whether the stream ends with a chunk that says what the answer cost."
    )


class VllmArguments(Strict):
    """The step budget as clients of vLLM name it."""

    diffusion_max_steps: Positive | None = Field(default=None, description="Another name of `diffusion.max_steps`.")
    diffusion_canvas_length: Positive | None = Field(
        default=None, description="Another name of `diffusion.canvas_length`."
    )


class DiffusionOptions(Strict):
    """How the answer is denoised."""

    model_config = ConfigDict(**STRICT, json_schema_extra=described({}, _PROBABILITY))

    max_steps: Positive | None = Field(
        default=None,
        description="Most denoise steps of one canvas, up to the model's limit in `/v1/models`.",
    )
    max_total_steps: Annotated[int, Field(ge=1, le=MOST_TOTAL_STEPS), WHOLE] | None = Field(
        default=None,
        description="Most denoise steps of the whole answer. By default `max_steps` times the canvases "
        "that `max_tokens` allows.",
    )
    min_steps: Positive | None = Field(
        default=None,
        description="Fewest denoise steps of one canvas: 1, as more are not supported yet.",
        json_schema_extra={"maximum": 1},
    )
    canvas_length: Positive | None = Field(
        default=None, description="Tokens of a canvas; one of the model's `canvas_lengths`."
    )
    mode: Annotated[Mode, Field(strict=False)] | None = Field(
        default=None,
        description="How the answer is written: canvases denoised, which is the default; `autoregressive`, one token a "
        "step; or `speculative`, the same answer in fewer steps, as a canvas drafts what the next step verifies. The "
        "latter draws no tokens: `temperature` 0 only. Neither heeds what is about canvases that become the answer.",
    )
    strategy: NamedStrategy | None = Field(
        default=None, description="Which positions a step reveals. By default `low_confidence`."
    )
    threshold: float | None = Field(
        default=None,
        ge=0,
        description="Threshold of the strategy: a probability, or for `entropy_bound` and `prophet` a number of "
        "nats. By default the strategy's own.",
    )
    window: Positive | None = Field(
        default=None,
        description="How many positions, the leftmost open ones, a step chooses among; the canvas length, or more, is "
        "all. By default 5 for `low_confidence`, and all for the others.",
    )
    task: _Name | None = Field(
        default=None,
        description="Task type of the request: one of the model's `tasks`, or of its policy. By default it is told "
        "from the prompt, where the server can.",
    )
    service_class: _Name | None = Field(
        default=None,
        description="One of the model's `service_classes` in `/v1/models`; by default the first of them. Without an "
        "approved policy there are none.",
    )
    criticality: Annotated[Criticality, Field(strict=False)] | None = Field(
        default=None,
        description="How much hangs on the answer: the policy may run requests of each in another precision. By "
        "default `normal`.",
    )
    early_exit: bool | None = Field(
        default=None,
        description="`false`: the answer runs to its end. By default it may stop before its budget is spent, where "
        "the policy has an exit rule for its task type.",
    )
    verify: Verifiers | None = Field(
        default=None,
        description="What the answer is verified against, beside its form and what its task type knows. It is answered "
        "either way, unless the service class says otherwise.",
    )
    max_reexpansions: Annotated[int, Field(ge=0, le=MOST_REEXPANSIONS), WHOLE] | None = Field(
        default=None,
        description="Most further attempts after a failed verification, up to those of the service class, which are "
        "the default. Without an approved policy there are none.",
    )
    search: Annotated[SearchMethod, Field(strict=False)] | None = Field(
        default=None,
        description="How steps beyond one answer's are spent on a better one. By default what the policy has for the "
        "request's class, task type and bucket, else `none`, which switches that off.",
    )
    width: Annotated[int, Field(ge=1, le=MOST_WIDTH), WHOLE] | None = Field(
        default=None,
        description="How wide the search is: candidates, paths, runs, or draws of a canvas. It may take so many times "
        "the steps of one answer, up to `max_total_steps`. By default 4.",
    )
    segment_weights: list[Weight] | None = Field(
        default=None,
        min_length=1,
        max_length=MOST_WEIGHTS,
        fail_fast=True,
        description="Of `rollover` only: how the steps are shared out among the canvases of the answer, in their "
        "order. A canvas of weight 2 has twice the steps of one of 1, which is the weight of those behind the last "
        "number. By default all have 1.",
    )
    stream: Literal["committed", "snapshots", "verified"] | None = Field(
        default=None,
        description="What a stream holds, with `stream` only: each canvas when it is finished; the draft after every "
        "step as well; or the text once it is accepted, which is the default where there may be further attempts or "
        "there is a search. The first two switch further attempts off, and go with no search.",
    )


CONDITIONS: tuple[JsonDict, ...] = (
    where("stream_options", {"type": "object"}, stream=_STREAMED),
    where(
        "diffusion",
        {"type": "object", "properties": {"stream": {"type": "string"}}, "required": ["stream"]},
        stream=_STREAMED,
    ),
    where(
        "reasoning_effort",
        {"type": "string"},
        diffusion={"properties": {"max_steps": _NULL}},
        num_denoising_steps=_NULL,
        vllm_xargs={"properties": {"diffusion_max_steps": _NULL}},
    ),
)
"""What the fields below ask of one another, for JSON Schemas of bodies."""


class GeneratingBody(Strict):
    """What a request for an answer may say, whatever it is an answer to."""

    model: str = Field(description="Name of a served model.")
    max_tokens: Positive | None = Field(
        default=None, description="Most tokens of the answer, up to the context length. By default the model's."
    )
    n: Annotated[int, Field(ge=1, le=MOST_CHOICES), WHOLE] | None = Field(
        default=None, description="Number of answers. The first is the one without others."
    )
    temperature: float | None = Field(
        default=None, ge=0, le=HIGHEST_TEMPERATURE, description="0, the default, takes the likeliest token everywhere."
    )
    top_p: float | None = Field(default=None, gt=0, le=1, description="Draws from the likeliest tokens only.")
    seed: Annotated[int, Field(ge=LEAST_SEED, le=LARGEST_SEED), WHOLE] | None = Field(
        default=None,
        description="Same seed, same answer. By default drawn for each request.",
    )
    stop: _Stop | None = Field(default=None, description="The answer ends before the first of these texts.")
    stream: bool | None = Field(default=None, description="Whether the answer is sent as events while it is made.")
    stream_options: StreamOptions | None = Field(default=None, description="With `stream` only.")
    response_format: ResponseFormat | None = Field(
        default=None, description="The form that the answer is verified against; it is answered either way."
    )
    service_tier: Annotated[ServiceTier, Field(strict=False)] | None = Field(
        default=None,
        description="Stands for a service class, `auto` and `default` for the default one; without an approved "
        "policy for none. The answer names the tier that was served.",
    )
    reasoning_effort: Annotated[Effort, Field(strict=False)] | None = Field(
        default=None,
        description="The step budget in a word: an eighth (`none`, `minimal`), a quarter (`low`), half (`medium`), "
        "three quarters (`high`) or all (`xhigh`, `max`) of the model's default steps. Not together with `max_steps`.",
    )
    diffusion: DiffusionOptions | None = Field(default=None, description="How the answer is denoised.")
    num_denoising_steps: Positive | None = Field(default=None, description="Another name of `diffusion.max_steps`.")
    vllm_xargs: VllmArguments | None = Field(default=None, description="Other names, as clients of vLLM send them.")
    user: Label | None = Field(default=None, description="The client's end user, by whom its requests are told apart.")
    metadata: _Metadata | None = Field(default=None, description="The client's own notes: tags of its requests.")
