"""Shapes of what answers say that they cost, for the OpenAPI document only."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from unmask.api.documented_routes import Routed
from unmask.api.documented_search import SearchUsage
from unmask.cache.cache import Match
from unmask.control.answered import Cap
from unmask.control.budget import BudgetSource
from unmask.types import ApproximateCache, Bucket, ExitReason, Precision, Verification

_EXACT = ConfigDict(extra="forbid")
_ROUTED = "Only where the model asked for is a route."


def without_default(schema: JsonDict) -> None:
    """Take the default of null out, as FastAPI does: what is described in two places has to be described alike."""
    schema.pop("default")


class Difficulty(BaseModel):
    """How hard a request looked before its first step."""

    model_config = _EXACT

    score: float = Field(description="Log2 of the denoise steps a canvas seems to need.")
    bin: int = Field(description="Difficulty bin, from 0 for the easiest.")


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


class CountedSteps(BaseModel):
    """The counts that a choice and all of them together have."""

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


class ChoiceDiffusion(CountedSteps):
    """What one of several choices cost."""

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
    route: Routed | None = Field(default=None, description=_ROUTED, json_schema_extra=without_default)
    cache: CacheFound | None
    quality_level: int


class PromptTokensDetails(BaseModel):
    """How the prompt was taken in."""

    model_config = _EXACT

    cached_tokens: int = Field(description="Prompt tokens found in the prefix cache.")


class DiffusionUsage(CountedSteps):
    """Denoise steps: what they were allowed to be, and what they were."""

    steps_allocated: int
    prompt_tokens_saved: int = Field(description="Tokens that refinement has cut from the prompt, as counted here.")
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
    approximate_cache: ApproximateCache | None = Field(
        description="Which keys and values were kept from step to step, where it is known and choices share it."
    )
    control: bool = Field(description="Whether a choice was a control run, which takes its whole budget.")
    route: Routed | None = Field(default=None, description=_ROUTED, json_schema_extra=without_default)
    cache: CacheFound | None = Field(description="Null where the cache was not asked for every choice.")
    quality_level: int = Field(
        description="What load left of the request: all with 0; with 1, 2 and 3 searches of at most 4, 2 and 1 "
        "answers, with 4 the next smaller bucket too. The highest of the choices'."
    )


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
        json_schema_extra=without_default,
    )


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
        json_schema_extra=without_default,
    )
