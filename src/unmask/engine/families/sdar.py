"""SDAR (Cheng et al. 2025, arXiv 2510.06303).

Causal over blocks of a few positions, which see all of themselves: keys and values of finished blocks stay as they are.
Blocks are counted from the start of the context, so a canvas that starts within one ends where it does.
"""

from collections.abc import Mapping
from typing import Literal

from pydantic import PositiveInt

from unmask.engine.families.family import Description, Family, Pattern, read_config
from unmask.engine.families.qwen import NORMED_LAYER, QwenConfig, qwen_names, qwen_shape

PUBLISHED_BLOCK = 4
DEFAULT_MAX_TOKENS = 256


class _Config(QwenConfig):
    head_dim: PositiveInt | None = None
    block_size: PositiveInt = PUBLISHED_BLOCK
    attention_bias: Literal[False] = False


def _describe(values: Mapping[str, object]) -> Description:
    config = read_config(_Config, values)
    return Description(
        shape=qwen_shape(config, config.head_dim),
        names=qwen_names(config, NORMED_LAYER),
        pattern=Pattern(block=config.block_size),
        mask=config.mask_token_id,
        mask_text="<|MASK|>",
        end_texts=("<|im_end|>",),
        canvas_lengths=(config.block_size,),
        default_canvas_length=config.block_size,
        default_max_tokens=DEFAULT_MAX_TOKENS,
    )


SDAR = Family(name="sdar", architectures=("SDARForCausalLM",), describe=_describe)
