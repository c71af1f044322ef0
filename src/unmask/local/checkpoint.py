"""Puts a published checkpoint behind a core."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
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
from unmask.engine.precision import dtype_of, widths_fault
from unmask.errors import CheckpointFolderError, ConfigError, shown
from unmask.local.model import QUEUE_LIMIT, ServedModel, make_core
from unmask.local.need import check_fits, free_bytes, memory_need
from unmask.sched.settings import SchedSettings
from unmask.tasks.registry import all_tasks
from unmask.text.checkpoint_tokenizer import CheckpointTokenizer, TokenizerFiles
from unmask.text.vocabulary_files import QWEN2_CLASSES, qwen2_tokenizer
from unmask.types import ApproximateCache, ApproximateKv, Device, Message, Precision, Role

TOKENIZER = "tokenizer.json"
TOKENIZER_SETTINGS = "tokenizer_config.json"
GENERATION = "generation_config.json"
TEMPLATE = "chat_template.jinja"
VOCABULARY, MERGES = "vocab.json", "merges.txt"
HALVES = frozenset({"bfloat16", "float16"})
"""Types of published weights that are run in bfloat16."""
FLOATS = frozenset({Precision.FLOAT32, Precision.BFLOAT16})
"""Precisions that every device has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """How a checkpoint is to be run; ``precision`` is its own where nothing is said."""

    device: Device = Device.AUTO
    precision: Precision | None = None
    approximate: ApproximateKv = ApproximateKv()


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedCheckpoint:
    """A checkpoint in memory; ``info`` describes it as it is served without an approximate cache."""

    described: Description
    decoder: Decoder
    tokenizer: CheckpointTokenizer
    adapter: Adapter
    info: ModelInfo


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
    """Load a checkpoint and put it behind a core of its own; see `load_checkpoint`."""
    loaded = load_checkpoint(path, name, settings, say=say, wanted=wanted)
    return put_behind_core(loaded, settings, clock, approximate=wanted.approximate, queue_limit=queue_limit)


def load_checkpoint(
    path: Path, name: str, settings: SchedSettings, *, say: Say, wanted: Wanted = Wanted()
) -> LoadedCheckpoint:
    """Load a checkpoint.

    Args:
        path: of its folder.
        name: that requests call it by.
        settings: sizes of the scheduler that it is going to have.
        say: told how far loading is.
        wanted: how it is to be run.

    Raises:
        CheckpointFolderError: a file is missing, damaged, or not one that can be served.
        ConfigError: device, precision or cache cannot be had, or memory has no room.
    """
    folder = open_folder(path)
    described = family_of(folder.config).describe(folder.config)
    if wanted.approximate.is_on and described.pattern.block is not None:
        raise exact_cache_error(name, wanted.approximate)
    tokenizer = _tokenizer(folder, described)
    adapter = _adapter(folder, described, tokenizer)
    precision, device = _precision(folder, wanted), chosen_device(wanted.device)
    _check_precision(precision, described, device)
    need = memory_need(described, settings, precision, wanted.approximate)
    check_fits(name, need, free_bytes(device), device, precision)
    shapes = tensor_shapes(described.shape, described.names)
    with Shards(folder, shapes, dtype=dtype_of(precision), device=device, say=say) as shards:
        digest = digest_of(folder, say)
        decoder = Decoder(described.shape, described.names, shards.read, precision)
    info = _info(name, digest, described, precision, parameters_of(shapes), tokenizer)
    return LoadedCheckpoint(described=described, decoder=decoder, tokenizer=tokenizer, adapter=adapter, info=info)


def put_behind_core(
    loaded: LoadedCheckpoint,
    settings: SchedSettings,
    clock: Clock,
    *,
    approximate: ApproximateKv = ApproximateKv(),
    queue_limit: int = QUEUE_LIMIT,
) -> ServedModel:
    """Put a checkpoint behind a core with pages of its own; further ones share its weights."""
    adapter, tokenizer = loaded.adapter, loaded.tokenizer
    runner = FamilyRunner(
        loaded.decoder,
        loaded.described.pattern,
        mask=adapter.mask,
        pages=settings.pages,
        page_size=settings.page_size,
        approximate=approximate,
    )
    core = make_core(
        runner, tokenizer.token_bytes, settings, clock, queue_limit=queue_limit, adapter=adapter, kv=runner.kv
    )
    digest = approximate_digest(loaded.info.digest, approximate)
    info = replace(loaded.info, digest=digest, approximate=approximate)
    return ServedModel(info=info, tokenizer=tokenizer, core=core)


def approximate_digest(weights: str, approximate: ApproximateKv) -> str:
    """Return the digest that a model goes by: of its weights, and of the cache where that changes its answers.

    Policies, curves, exits and kept answers belong to a digest, so that none that was measured without the cache, or
    with another, is used with it.
    """
    if not approximate.is_on:
        return weights
    said = f"{weights} {approximate.cache} {approximate.refresh or 0}"
    return hashlib.sha256(said.encode()).hexdigest()[: len(weights)]


def exact_cache_error(name: str, approximate: ApproximateKv) -> ConfigError:
    """Return what is wrong with an approximate cache for a model whose cache is exact."""
    return ConfigError(
        f"approximate_cache is {approximate.cache}, allowed with {name}: {ApproximateCache.OFF}, as it keeps keys and "
        "values of its context exactly, at no loss. Leave it out, or serve models of LLaDA and Dream on their own.",
        param="approximate_cache",
    )


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
        case _:
            return wanted.precision


def _check_precision(precision: Precision, described: Description, device: torch.device) -> None:
    """Refuse a precision that the layers' products cannot be had in: those of whole numbers run on processors alone."""
    has_all = device.type == "cpu"
    fault = None if has_all or precision in FLOATS else f"it runs on the processor alone, and device is {device.type}"
    fault = fault or widths_fault(precision, described.shape.widths)
    if fault is not None:
        allowed = (each for each in Precision if has_all or each in FLOATS)
        others = ", ".join(each for each in allowed if widths_fault(each, described.shape.widths) is None)
        raise ConfigError(
            f"precision is {precision}, allowed for this checkpoint: {others}: {fault}. Leave it out for the "
            "checkpoint's own.",
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
        reads_whole=not on_grid,
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
