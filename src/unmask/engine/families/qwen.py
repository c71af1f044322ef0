"""What families that were made from Qwen's decoders have in common: their configuration, and where weights are."""

from dataclasses import replace
from typing import Literal

from pydantic import PositiveFloat, PositiveInt

from unmask.engine.families.family import PublishedConfig
from unmask.engine.families.shape import DecoderShape, LayerNames, Names

LAYER = LayerNames(
    query="self_attn.q_proj",
    key="self_attn.k_proj",
    value="self_attn.v_proj",
    out="self_attn.o_proj",
    gate="mlp.gate_proj",
    up="mlp.up_proj",
    down="mlp.down_proj",
    attention_norm="input_layernorm",
    hidden_norm="post_attention_layernorm",
)
"""Of every one; biases and norms of heads are the family's own."""
BIASED_LAYER = replace(LAYER, has_bias=True)
NORMED_LAYER = replace(LAYER, query_norm="self_attn.q_norm", key_norm="self_attn.k_norm")


class QwenConfig(PublishedConfig):
    """The fields that all of them have."""

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


def qwen_shape(config: QwenConfig, head_width: int | None = None) -> DecoderShape:
    """Return the sizes; heads share the width unless a configuration says how wide they are."""
    return DecoderShape(
        vocabulary=config.vocab_size,
        width=config.hidden_size,
        layers=config.num_hidden_layers,
        heads=config.num_attention_heads,
        key_heads=config.num_key_value_heads,
        head_width=head_width or config.hidden_size // config.num_attention_heads,
        hidden=config.intermediate_size,
        epsilon=config.rms_norm_eps,
        theta=config.rope_theta,
        context_length=config.max_position_embeddings,
    )


def qwen_names(config: QwenConfig, layers: LayerNames) -> Names:
    """Return where the tensors are."""
    return Names(
        tokens="model.embed_tokens.weight",
        layer="model.layers.{}.",
        norm="model.norm.weight",
        head=None if config.tie_word_embeddings else "lm_head.weight",
        layers=layers,
    )
