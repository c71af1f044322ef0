"""What is read of a checkpoint's folder beside its weights, and where and in what it runs; alike for all families."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from unmask.engine.families.folder import CheckpointFolder, read_bytes, read_object
from unmask.errors import CheckpointFolderError, ConfigError, shown
from unmask.text.checkpoint_tokenizer import CheckpointTokenizer, TokenizerFiles
from unmask.text.vocabulary_files import QWEN2_CLASSES, qwen2_tokenizer
from unmask.types import ApproximateKv, Device, Precision

TOKENIZER = "tokenizer.json"
TOKENIZER_SETTINGS = "tokenizer_config.json"
GENERATION = "generation_config.json"
TEMPLATE = "chat_template.jinja"
VOCABULARY, MERGES = "vocab.json", "merges.txt"
HALVES = frozenset({"bfloat16", "float16"})
"""Types of published weights that are run in bfloat16."""
FLOATS = frozenset({Precision.FLOAT32, Precision.BFLOAT16})
"""Precisions that every device and family has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """How a checkpoint is to be run; ``precision`` is its own where nothing is said."""

    device: Device = Device.AUTO
    precision: Precision | None = None
    approximate: ApproximateKv = ApproximateKv()


def is_deterministic(device: torch.device) -> bool:
    """Tell whether tokens do not depend on what runs beside them: kernels of GPUs vary with the shape of a batch."""
    return device.type == "cpu"


def chosen_device(device: Device) -> torch.device:
    """Return torch's device.

    Raises:
        ConfigError: there is none of this kind.
    """
    has_cuda = torch.cuda.is_available()
    if device is Device.CUDA and not has_cuda:
        raise ConfigError("device is cuda, allowed here: auto or cpu, as torch finds no CUDA device.", param="device")
    return torch.device("cuda" if has_cuda and device is not Device.CPU else "cpu")


def chosen_precision(folder: CheckpointFolder, wanted: Wanted) -> Precision:
    """Return the precision that is wanted, or the checkpoint's own."""
    if wanted.precision is not None:
        return wanted.precision
    named = folder.config.get("torch_dtype", folder.config.get("dtype", "float32"))
    return Precision.BFLOAT16 if named in HALVES else Precision.FLOAT32


def read_tokenizer(
    folder: CheckpointFolder, rows: int, *, end_ids: tuple[int, ...] = (), end_texts: tuple[str, ...] = ()
) -> CheckpointTokenizer:
    """Read tokenizer, chat template and the ids that end answers.

    Args:
        folder: the checkpoint.
        rows: tokens that the weights know.
        end_ids: with which answers end, beside those at the top of the configuration and those of generation.
        end_texts: tokens that end them too, where the tokenizer has them.

    Raises:
        CheckpointFolderError: a file is missing or damaged, or does not belong to the weights.
    """
    settings = optional_object(folder, TOKENIZER_SETTINGS)
    own = folder.path / TEMPLATE
    template: object = settings.get("chat_template")
    if own.exists():
        template = read_bytes(own).decode("utf-8", "replace")
    elif isinstance(template, list):
        # Some files hold several; the one for chats is the default.
        named = {entry.get("name"): entry.get("template") for entry in template if isinstance(entry, dict)}
        template = named.get("default")
    files = TokenizerFiles(
        tokenizer=_tokenizer_json(folder, settings),
        settings=settings,
        template=template if isinstance(template, str) else None,
    )
    ends = (*_ids(folder.config), *end_ids, *_ids(optional_object(folder, GENERATION)))
    tokenizer = CheckpointTokenizer(files, ends, end_texts)
    if tokenizer.size > rows:
        raise CheckpointFolderError(
            f"{TOKENIZER} has ids up to {tokenizer.size - 1}, and the weights know {rows} tokens: they do not belong "
            "together; take both from the same checkpoint"
        )
    if not tokenizer.ends or max(tokenizer.ends) >= rows:
        raise CheckpointFolderError(
            f"eos_token_id is {shown(tokenizer.ends)}, allowed: ids below {rows}. Without a token that ends answers "
            "none would end; take config.json and the tokenizer's files as they are published"
        )
    return tokenizer


def _tokenizer_json(folder: CheckpointFolder, settings: Mapping[str, object]) -> bytes:
    """Read ``tokenizer.json``, or make it of the files that stand in its place."""
    is_made = not (folder.path / TOKENIZER).exists() and settings.get("tokenizer_class") in QWEN2_CLASSES
    if is_made and (folder.path / VOCABULARY).exists():
        return qwen2_tokenizer(read_bytes(folder.path / VOCABULARY), read_bytes(folder.path / MERGES))
    return read_bytes(folder.path / TOKENIZER)


def optional_object(folder: CheckpointFolder, file: str) -> Mapping[str, object]:
    """Return what a file of JSON holds; nothing where there is no such file."""
    path = folder.path / file
    return read_object(path) if path.exists() else {}


def _ids(config: Mapping[str, object]) -> tuple[int, ...]:
    """Return the end tokens of a configuration, which has one or a list."""
    value = config.get("eos_token_id")
    values = value if isinstance(value, list) else [value]
    return tuple(token for token in values if isinstance(token, int))
