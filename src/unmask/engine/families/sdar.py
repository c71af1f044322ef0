"""SDAR (Cheng et al. 2025, arXiv 2510.06303).

Causal over blocks of a few positions, which see all of themselves: keys and values of finished blocks stay as they are.
Blocks are counted from the start of the context, so a canvas that starts within one ends where it does.
"""

from collections.abc import Mapping
from typing import Literal

from pydantic import PositiveFloat, PositiveInt

from unmask.engine.families.family import Description, Family, Pattern, PublishedConfig, read_config
from unmask.engine.families.shape import DecoderShape, LayerNames, Names

PUBLISHED_BLOCK = 4
DEFAULT_MAX_TOKENS = 256

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
    query_norm="self_attn.q_norm",
    key_norm="self_attn.k_norm",
)


class _Config(PublishedConfig):
    hidden_size: PositiveInt
    num_attention_heads: PositiveInt
    num_key_value_heads: PositiveInt
    num_hidden_layers: PositiveInt
    head_dim: PositiveInt | None = None
    intermediate_size: PositiveInt
    vocab_size: PositiveInt
    max_position_embeddings: PositiveInt
    rms_norm_eps: PositiveFloat
    rope_theta: PositiveFloat
    mask_token_id: int | None = None
    block_size: PositiveInt = PUBLISHED_BLOCK
    tie_word_embeddings: bool = False
    hidden_act: Literal["silu"] = "silu"
    attention_bias: Literal[False] = False
    use_sliding_window: Literal[False] = False
    rope_scaling: None = None
    quantization_config: None = None


def _describe(values: Mapping[str, object]) -> Description:
    config = read_config(_Config, values)
    return Description(
        shape=DecoderShape(
            vocabulary=config.vocab_size,
            width=config.hidden_size,
            layers=config.num_hidden_layers,
            heads=config.num_attention_heads,
            key_heads=config.num_key_value_heads,
            head_width=config.head_dim or config.hidden_size // config.num_attention_heads,
            hidden=config.intermediate_size,
            epsilon=config.rms_norm_eps,
            theta=config.rope_theta,
            context_length=config.max_position_embeddings,
        ),
        names=Names(
            tokens="model.embed_tokens.weight",
            layer="model.layers.{}.",
            norm="model.norm.weight",
            head=None if config.tie_word_embeddings else "lm_head.weight",
            layers=_LAYER,
        ),
        pattern=Pattern(block=config.block_size),
        mask=config.mask_token_id,
        mask_text="<|MASK|>",
        end_texts=("<|im_end|>",),
        canvas_lengths=(config.block_size,),
        default_canvas_length=config.block_size,
        default_max_tokens=DEFAULT_MAX_TOKENS,
    )


SDAR = Family(name="sdar", architectures=("SDARForCausalLM",), describe=_describe)
