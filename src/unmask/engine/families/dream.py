"""Dream (Ye et al. 2025, arXiv 2508.15487).

Made from an autoregressive model, of which it keeps that a position is told by the logits of the one before it. Every
position sees every other. The authors denoise the whole answer as one canvas.
"""

from collections.abc import Mapping
from typing import Literal

from pydantic import PositiveFloat, PositiveInt

from unmask.engine.families.family import Description, Family, Pattern, PublishedConfig, fitting, read_config
from unmask.engine.families.shape import DecoderShape, LayerNames, Names

CANVAS_LENGTHS = (8, 16, 32, 64, 128, 256)
DEFAULT_CANVAS = 128
DEFAULT_MAX_TOKENS = 128

_LAYER = LayerNames(
    query="self_attn.q_proj",
    key="self_attn.k_proj",
    value="self_attn.v_proj",
    out="self_attn.o_proj",
    gate="mlp.gate_proj",
    up="mlp.up_proj",
    down="mlp.down_proj",
    attention_norm="input_layernorm",
    hidden_norm="post_attention_layernorm",
    has_bias=True,
)


class _Config(PublishedConfig):
    hidden_size: PositiveInt
    num_attention_heads: PositiveInt
    num_key_value_heads: PositiveInt
    num_hidden_layers: PositiveInt
    intermediate_size: PositiveInt
    vocab_size: PositiveInt
    max_position_embeddings: PositiveInt
    rms_norm_eps: PositiveFloat
    rope_theta: PositiveFloat
    mask_token_id: int | None = None
    tie_word_embeddings: bool = False
    hidden_act: Literal["silu"] = "silu"
    use_sliding_window: Literal[False] = False
    rope_scaling: None = None
    quantization_config: None = None


def _describe(values: Mapping[str, object]) -> Description:
    config = read_config(_Config, values)
    shape = DecoderShape(
        vocabulary=config.vocab_size,
        width=config.hidden_size,
        layers=config.num_hidden_layers,
        heads=config.num_attention_heads,
        key_heads=config.num_key_value_heads,
        head_width=config.hidden_size // config.num_attention_heads,
        hidden=config.intermediate_size,
        epsilon=config.rms_norm_eps,
        theta=config.rope_theta,
        context_length=config.max_position_embeddings,
    )
    lengths = fitting(CANVAS_LENGTHS, shape.context_length)
    return Description(
        shape=shape,
        names=Names(
            tokens="model.embed_tokens.weight",
            layer="model.layers.{}.",
            norm="model.norm.weight",
            head=None if config.tie_word_embeddings else "lm_head.weight",
            layers=_LAYER,
        ),
        pattern=Pattern(is_shifted=True),
        mask=config.mask_token_id,
        mask_text="<|mask|>",
        end_texts=("<|im_end|>",),
        canvas_lengths=lengths,
        default_canvas_length=min(DEFAULT_CANVAS, lengths[-1]),
        default_max_tokens=DEFAULT_MAX_TOKENS,
    )


DREAM = Family(name="dream", architectures=("DreamModel",), describe=_describe)
