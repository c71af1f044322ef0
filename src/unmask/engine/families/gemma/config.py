"""What a DiffusionGemma checkpoint says of itself, and how it samples.

Its sizes, and whatever else changes what is computed, are read by transformers; here is what is served of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from unmask.engine.families.family import PublishedConfig, read_config
from unmask.engine.renoising.terms import Renoising
from unmask.errors import CheckpointFolderError

ARCHITECTURE = "DiffusionGemmaForBlockDiffusion"


class _Text(PublishedConfig):
    vocab_size: PositiveInt
    max_position_embeddings: PositiveInt
    eos_token_id: int | list[int] | None = None
    final_logit_softcapping: PositiveFloat = 30.0
    tie_word_embeddings: Literal[True] = True
    use_bidirectional_attention: Literal["vision"] | None = None


class _Config(PublishedConfig):
    text_config: _Text
    canvas_length: PositiveInt
    tie_word_embeddings: Literal[True] = True
    quantization_config: None = None


class _Sampler(PublishedConfig):
    entropy_bound: PositiveFloat


class _Generation(PublishedConfig):
    """A ``generation_config.json``; what it leaves out, or null, is what transformers takes then."""

    max_new_tokens: PositiveInt = 256
    max_denoising_steps: PositiveInt = 48
    sampler_config: _Sampler = _Sampler(entropy_bound=0.1)
    t_min: NonNegativeFloat = 0.4
    t_max: NonNegativeFloat = 0.8
    stability_threshold: NonNegativeInt = 1
    confidence_threshold: PositiveFloat = 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class GemmaDescription:
    """A checkpoint as it is served.

    Attributes:
        end_ids: with which answers end, as the configuration says.
        context_length: positions that the model is made for.
        canvas_length: the one that it has.
        default_steps: of a canvas, as the checkpoint has it.
        default_max_tokens: of an answer.
        terms: how it samples.
    """

    end_ids: tuple[int, ...]
    context_length: int
    canvas_length: int
    default_steps: int
    default_max_tokens: int
    terms: Renoising


def describe(config: Mapping[str, object], generation: Mapping[str, object]) -> GemmaDescription:
    """Read configuration and generation settings.

    Raises:
        CheckpointFolderError: a field is missing, or has a value that this family is not run with.
    """
    read = read_config(_Config, config)
    said = {name: value for name, value in generation.items() if value is not None}
    sampling = read_config(_Generation, said, file="generation_config.json")
    if sampling.t_max <= sampling.t_min:
        raise CheckpointFolderError(
            f"generation_config.json: t_max is {sampling.t_max}, allowed: above t_min, which is {sampling.t_min}; "
            "take the published file of the checkpoint"
        )
    ends = read.text_config.eos_token_id
    return GemmaDescription(
        end_ids=() if ends is None else (ends,) if isinstance(ends, int) else tuple(ends),
        context_length=read.text_config.max_position_embeddings,
        canvas_length=read.canvas_length,
        default_steps=sampling.max_denoising_steps,
        default_max_tokens=sampling.max_new_tokens,
        terms=Renoising(
            vocabulary=read.text_config.vocab_size,
            entropy_bound=sampling.sampler_config.entropy_bound,
            coolest=sampling.t_min,
            hottest=sampling.t_max,
            stability=sampling.stability_threshold,
            confidence=sampling.confidence_threshold,
        ),
    )
