"""Dream (Ye et al. 2025, arXiv 2508.15487).

Made from an autoregressive model, of which it keeps that a position is told by the logits of the one before it. Every
position sees every other. The authors denoise the whole answer as one canvas.
"""

from collections.abc import Mapping

from unmask.engine.families.family import Description, Family, Pattern, fitting, read_config
from unmask.engine.families.qwen import BIASED_LAYER, QwenConfig, qwen_names, qwen_shape

CANVAS_LENGTHS = (8, 16, 32, 64, 128, 256)
DEFAULT_CANVAS = 128
DEFAULT_MAX_TOKENS = 128


def _describe(values: Mapping[str, object]) -> Description:
    config = read_config(QwenConfig, values)
    shape = qwen_shape(config)
    lengths = fitting(CANVAS_LENGTHS, shape.context_length)
    return Description(
        shape=shape,
        names=qwen_names(config, BIASED_LAYER),
        pattern=Pattern(is_shifted=True),
        mask=config.mask_token_id,
        mask_text="<|mask|>",
        end_texts=("<|im_end|>",),
        canvas_lengths=lengths,
        default_canvas_length=min(DEFAULT_CANVAS, lengths[-1]),
        default_max_tokens=DEFAULT_MAX_TOKENS,
    )


DREAM = Family(name="dream", architectures=("DreamModel",), describe=_describe)
