"""Small checkpoints of published architectures, with random weights that a seed alone decides."""

import json
from collections.abc import Mapping
from pathlib import Path
from zlib import crc32

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor

from unmask.text.tokenizer import byte_alphabet

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


def tokenizer_json() -> dict[str, object]:
    """Return a ``tokenizer.json`` of single bytes and the special tokens above."""
    added = [
        {"id": number, "content": text, "single_word": False, "lstrip": False, "rstrip": False}
        | {"normalized": False, "special": True}
        for number, text in SPECIAL_TEXTS.items()
    ]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {letter: byte for byte, letter in enumerate(byte_alphabet())},
            "merges": [],
        },
    }


CHAT_TEMPLATE = (
    "{%- for message in messages %}"
    "{{- '<|im_start|>' + message.role + '\n' + message.content | trim + '<|im_end|>\n' }}"
    "{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}"
)


def write_checkpoint(
    folder: Path, config: Mapping[str, object], weights: Mapping[str, Tensor], *, shards: int = 1
) -> None:
    """Write a checkpoint as it is published: configuration, tokenizer, chat template and weights, in shards or not."""
    folder.mkdir(parents=True, exist_ok=True)
    write_object(folder / "config.json", config)
    write_object(folder / "tokenizer.json", tokenizer_json())
    settings = {"eos_token": SPECIAL_TEXTS[END], "mask_token": SPECIAL_TEXTS[MASK], "chat_template": CHAT_TEMPLATE}
    write_object(folder / "tokenizer_config.json", settings)
    if shards == 1:
        save_file(dict(weights), folder / "model.safetensors")
        return
    names = sorted(weights)
    files = {name: f"model-{place % shards + 1:05}-of-{shards:05}.safetensors" for place, name in enumerate(names)}
    for file in sorted(set(files.values())):
        save_file({name: weights[name] for name in names if files[name] == file}, folder / file)
    write_object(folder / "model.safetensors.index.json", {"metadata": {}, "weight_map": files})


def write_object(path: Path, value: Mapping[str, object]) -> None:
    """Write a file of one JSON object."""
    path.write_text(json.dumps(value), encoding="utf-8")
