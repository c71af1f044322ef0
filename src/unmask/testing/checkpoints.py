"""Small checkpoints of published architectures, with random weights that a seed alone decides."""

import json
from collections.abc import Mapping
from pathlib import Path
from zlib import crc32

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor

MASK, END, TURN, TURN_END = 256, 257, 258, 259
SPECIAL_TEXTS = {MASK: "<|mask|>", END: "<|endoftext|>", TURN: "<|im_start|>", TURN_END: "<|im_end|>"}
VOCABULARY = 260
"""Ids of a tokenizer whose first 256 stand for bytes, the byte's own number being the id."""


def random_weights(shapes: Mapping[str, tuple[int, ...]], seed: int) -> dict[str, Tensor]:
    """Draw weights by name, so that neither their order nor the version of torch matters.

    Scales of norms (the only vectors but biases) lie around 1; matrices are large enough for logits to differ.
    """
    weights = {}
    for name, shape in shapes.items():
        noise = np.random.default_rng([seed, crc32(name.encode())]).standard_normal(shape, dtype=np.float32)
        is_scale = len(shape) == 1 and not name.endswith("bias")
        weights[name] = torch.from_numpy(1 + 0.1 * noise if is_scale else 0.2 * noise)
    return weights
