"""Puts a published checkpoint behind a core."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from unmask.backend import ALL_LEVERS, Lever, ModelInfo
from unmask.clock import Clock
from unmask.engine.adapter import Adapter
from unmask.engine.families.decoder import Decoder
from unmask.engine.families.family import Description
from unmask.engine.families.folder import CheckpointFolder, Say, digest_of, open_folder, read_bytes, read_object
from unmask.engine.families.registry import family_of
from unmask.engine.families.runner import FamilyRunner
from unmask.engine.families.shape import tensor_shapes
from unmask.engine.families.shards import Shards, parameters_of
from unmask.engine.precision import dtype_of
from unmask.errors import CheckpointFolderError, ConfigError, shown
from unmask.local.model import QUEUE_LIMIT, ServedModel, make_core
from unmask.local.need import check_fits, free_bytes, memory_need
from unmask.sched.settings import SchedSettings
from unmask.tasks.registry import all_tasks
from unmask.text.checkpoint_tokenizer import CheckpointTokenizer, TokenizerFiles
from unmask.text.vocabulary_files import QWEN2_CLASSES, qwen2_tokenizer
from unmask.types import Device, Message, Precision, Role

TOKENIZER = "tokenizer.json"
TOKENIZER_SETTINGS = "tokenizer_config.json"
GENERATION = "generation_config.json"
TEMPLATE = "chat_template.jinja"
VOCABULARY, MERGES = "vocab.json", "merges.txt"
HALVES = frozenset({"bfloat16", "float16"})
"""Types of published weights that are run in bfloat16."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """How a checkpoint is to be run; ``precision`` is its own where nothing is said."""

    device: Device = Device.AUTO
    precision: Precision | None = None


def serve_checkpoint(
    path: Path,
    name: str,
    settings: SchedSettings,
    clock: Clock,
    *,
    say: Say,
    wanted: Wanted = Wanted(),
    queue_limit: int = QUEUE_LIMIT,
) -> ServedModel:
    """Load a checkpoint and put it behind a core of its own.

    Args:
        path: of its folder.
        name: that requests call it by.
        settings: sizes of its scheduler.
        clock: the engine's.
        say: told how far loading is.
        wanted: device and precision.
        queue_limit: requests that may wait.

    Raises:
        CheckpointFolderError: a file is missing, damaged, or not one that can be served.
        ConfigError: device or precision cannot be had, or memory has no room.
    """
    folder = open_folder(path)
    described = family_of(folder.config).describe(folder.config)
    tokenizer = _tokenizer(folder, described)
    adapter = _adapter(folder, described, tokenizer)
    precision, device = _precision(folder, wanted), chosen_device(wanted.device)
    dtype = dtype_of(precision)
    check_fits(name, memory_need(described, settings, dtype), free_bytes(device), device, dtype)
    shapes = tensor_shapes(described.shape, described.names)
    with Shards(folder, shapes, dtype=dtype, device=device, say=say) as shards:
        digest = digest_of(folder, say)
        decoder = Decoder(described.shape, described.names, shards.read)
    runner = FamilyRunner(
        decoder, described.pattern, mask=adapter.mask, pages=settings.pages, page_size=settings.page_size
    )
    core = make_core(
        runner, tokenizer.token_bytes, settings, clock, queue_limit=queue_limit, adapter=adapter, kv=runner.kv
    )
    info = _info(name, digest, described, precision, parameters_of(shapes), tokenizer)
    return ServedModel(info=info, tokenizer=tokenizer, core=core)


def chosen_device(device: Device) -> torch.device:
    """Return torch's device.

    Raises:
        ConfigError: there is none of this kind.
    """
    has_cuda = torch.cuda.is_available()
    if device is Device.CUDA and not has_cuda:
        raise ConfigError("device is cuda, allowed here: auto or cpu, as torch finds no CUDA device.", param="device")
    return torch.device("cuda" if has_cuda and device is not Device.CPU else "cpu")


def _precision(folder: CheckpointFolder, wanted: Wanted) -> Precision:
    match wanted.precision:
        case None:
            named = folder.config.get("torch_dtype", folder.config.get("dtype", "float32"))
            return Precision.BFLOAT16 if named in HALVES else Precision.FLOAT32
        case Precision.FLOAT32 | Precision.BFLOAT16:
            return wanted.precision
        case _:
            raise ConfigError(
                f"precision is {wanted.precision}, allowed for a checkpoint: {Precision.FLOAT32}, "
                f"{Precision.BFLOAT16}. Leave it out for the checkpoint's own.",
                param="precision",
            )


def _tokenizer(folder: CheckpointFolder, described: Description) -> CheckpointTokenizer:
    """Read tokenizer, chat template and the ids that end answers."""
    settings = _optional(folder, TOKENIZER_SETTINGS)
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
    ends = (*_ids(folder.config), *_ids(_optional(folder, GENERATION)))
    tokenizer = CheckpointTokenizer(files, ends, described.end_texts)
    rows = described.shape.vocabulary
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


def _adapter(folder: CheckpointFolder, described: Description, tokenizer: CheckpointTokenizer) -> Adapter:
    mask = described.mask
    if mask is None:
        named = _optional(folder, TOKENIZER_SETTINGS).get("mask_token")
        text = named.get("content") if isinstance(named, dict) else named
        mask = tokenizer.find(text if isinstance(text, str) else described.mask_text)
    if mask is None or not tokenizer.has(mask):
        raise CheckpointFolderError(
            f"the tokenizer of {folder.name} has no mask token: config.json names the id {described.mask}, and there "
            f"is no {described.mask_text}. Take {TOKENIZER} and {TOKENIZER_SETTINGS} as they are published"
        )
    unknown = (token for token in range(described.shape.vocabulary) if not tokenizer.has(token))
    first, *others = tokenizer.ends
    block = described.pattern.block
    return Adapter(
        mask=mask,
        end=first,
        other_ends=tuple(others),
        forbidden=(mask, *unknown),
        exact_cache=block is not None,
    )


def _info(
    name: str,
    digest: str,
    described: Description,
    precision: Precision,
    parameters: int,
    tokenizer: CheckpointTokenizer,
) -> ModelInfo:
    on_grid = described.pattern.block is not None
    missing = {Lever.MODE, Lever.DRAFT} if on_grid else {Lever.MODE}
    return ModelInfo(
        name=name,
        digest=digest,
        parameters=parameters,
        precision=precision,
        context_length=described.shape.context_length,
        canvas_lengths=described.canvas_lengths,
        default_canvas_length=described.default_canvas_length,
        max_steps=max(described.canvas_lengths),
        default_steps=described.default_canvas_length,
        default_max_tokens=described.default_max_tokens,
        tasks=tuple(all_tasks()),
        levers=tuple(lever for lever in ALL_LEVERS if lever not in missing),
        precisions=(precision,),
        on_grid=on_grid,
        template_tokens=len(tokenizer.encode_chat([Message(role=Role.USER, content="")])),
    )


def _optional(folder: CheckpointFolder, file: str) -> Mapping[str, object]:
    path = folder.path / file
    return read_object(path) if path.exists() else {}


def _ids(config: Mapping[str, object]) -> tuple[int, ...]:
    """Return the end tokens of a configuration, which has one or a list."""
    value = config.get("eos_token_id")
    values = value if isinstance(value, list) else [value]
    return tuple(token for token in values if isinstance(token, int))
