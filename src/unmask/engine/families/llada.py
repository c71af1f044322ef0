"""LLaDA and LLaDA-1.5 (Nie et al. 2025, arXiv 2502.09992; Zhu et al. 2025, arXiv 2505.19223).

Every position sees every other, masks behind the canvas included, so nothing of a forward can be kept for the next.
Answers are written canvas by canvas, which the authors call semi-autoregressive.
"""

from collections.abc import Mapping
from typing import Literal

from pydantic import PositiveFloat, PositiveInt

from unmask.engine.families.family import Description, Family, Pattern, PublishedConfig, fitting, read_config
from unmask.engine.families.shape import DecoderShape, LayerNames, Names

CANVAS_LENGTHS = (8, 16, 32, 64, 128, 256)
DEFAULT_CANVAS = 32
DEFAULT_MAX_TOKENS = 128
"""As in the published example of generation."""

_LAYER = LayerNames(
    query="q_proj",
    key="k_proj",
    value="v_proj",
    out="attn_out",
    gate="ff_proj",
    up="up_proj",
    down="ff_out",
    attention_norm="attn_norm",
    hidden_norm="ff_norm",
)


class _Config(PublishedConfig):
    d_model: PositiveInt
    n_heads: PositiveInt
    n_kv_heads: PositiveInt | None = None
    n_layers: PositiveInt
    mlp_hidden_size: PositiveInt
    vocab_size: PositiveInt
    embedding_size: PositiveInt | None = None
    max_sequence_length: PositiveInt
    rms_norm_eps: PositiveFloat
    rope_theta: PositiveFloat
    mask_token_id: int | None = None
    weight_tying: bool = False
    activation_type: Literal["silu"] = "silu"
    block_type: Literal["llama"]
    layer_norm_type: Literal["rms"]
    rope: Literal[True]
    alibi: Literal[False] = False
    attention_layer_norm: Literal[False] = False
    include_bias: Literal[False] = False
    include_qkv_bias: Literal[False] = False
    input_emb_norm: Literal[False] = False
    scale_logits: Literal[False] = False
    block_group_size: Literal[1] = 1
    rope_scaling: None = None
    quantization_config: None = None


def _describe(values: Mapping[str, object]) -> Description:
    config = read_config(_Config, values)
    shape = DecoderShape(
        vocabulary=config.embedding_size or config.vocab_size,
        width=config.d_model,
        layers=config.n_layers,
        heads=config.n_heads,
        key_heads=config.n_kv_heads or config.n_heads,
        head_width=config.d_model // config.n_heads,
        hidden=config.mlp_hidden_size,
        epsilon=config.rms_norm_eps,
        theta=config.rope_theta,
        context_length=config.max_sequence_length,
    )
    lengths = fitting(CANVAS_LENGTHS, shape.context_length)
    return Description(
        shape=shape,
        names=Names(
            tokens="model.transformer.wte.weight",
            layer="model.transformer.blocks.{}.",
            norm="model.transformer.ln_f.weight",
            head=None if config.weight_tying else "model.transformer.ff_out.weight",
            layers=_LAYER,
        ),
        pattern=Pattern(),
        mask=config.mask_token_id,
        mask_text="<|mdm_mask|>",
        end_texts=("<|eot_id|>",),
        canvas_lengths=lengths,
        default_canvas_length=min(DEFAULT_CANVAS, lengths[-1]),
        default_max_tokens=DEFAULT_MAX_TOKENS,
    )


LLADA = Family(name="llada", architectures=("LLaDAModelLM",), describe=_describe)
