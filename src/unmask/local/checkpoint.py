"""Puts a published checkpoint behind a core."""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from unmask.backend import ALL_LEVERS, Lever, ModelInfo
from unmask.clock import Clock
from unmask.engine.adapter import Adapter
from unmask.engine.families.decoder import Decoder
from unmask.engine.families.family import Description
from unmask.engine.families.folder import CheckpointFolder, Say, digest_of, open_folder
from unmask.engine.families.registry import family_of, is_gemma
from unmask.engine.families.runner import FamilyRunner
from unmask.engine.families.shape import tensor_shapes
from unmask.engine.families.shards import Shards, parameters_of
from unmask.engine.precision import dtype_of, widths_fault
from unmask.errors import CheckpointFolderError, ConfigError
from unmask.local.checkpoint_files import (
    FLOATS,
    TOKENIZER,
    TOKENIZER_SETTINGS,
    Wanted,
    chosen_device,
    chosen_precision,
    is_deterministic,
    optional_object,
    read_tokenizer,
)
from unmask.local.gemma import serve_gemma
from unmask.local.model import QUEUE_LIMIT, ServedModel, make_core
from unmask.local.need import check_fits, free_bytes, memory_need
from unmask.sched.settings import SchedSettings
from unmask.tasks.registry import all_tasks
from unmask.text.checkpoint_tokenizer import CheckpointTokenizer
from unmask.types import ApproximateCache, ApproximateKv, Message, Precision, Role


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
    folder = open_folder(path)
    if is_gemma(folder.config):
        if wanted.approximate.is_on:
            raise exact_cache_error(name, wanted.approximate)
        return serve_gemma(folder, name, settings, clock, say=say, wanted=wanted, queue_limit=queue_limit)
    loaded = load_checkpoint(path, name, settings, say=say, wanted=wanted)
    return put_behind_core(loaded, settings, clock, approximate=wanted.approximate, queue_limit=queue_limit)


def load_checkpoint(
    path: Path, name: str, settings: SchedSettings, *, say: Say, wanted: Wanted = Wanted()
) -> LoadedCheckpoint:
    """Load a checkpoint of a family that has masks.

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
    if is_gemma(folder.config):
        # Whoever comes here with one wants it with an approximate cache.
        raise exact_cache_error(name, wanted.approximate)
    described = family_of(folder.config).describe(folder.config)
    if wanted.approximate.is_on and described.pattern.block is not None:
        raise exact_cache_error(name, wanted.approximate)
    tokenizer = read_tokenizer(folder, described.shape.vocabulary, end_texts=described.end_texts)
    adapter = _adapter(folder, described, tokenizer)
    precision, device = chosen_precision(folder, wanted), chosen_device(wanted.device)
    _check_precision(precision, described, device)
    need = memory_need(described, settings, precision, wanted.approximate)
    check_fits(name, need, free_bytes(device), device, precision)
    shapes = tensor_shapes(described.shape, described.names)
    with Shards(folder, shapes, dtype=dtype_of(precision), device=device, say=say) as shards:
        digest = digest_of(folder, say)
        decoder = Decoder(described.shape, described.names, shards.read, precision)
    info = replace(
        _info(name, digest, described, precision, parameters_of(shapes), tokenizer),
        is_deterministic=is_deterministic(device),
    )
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
    return ServedModel(info=info, tokenizer=tokenizer, core=core, page_bytes=runner.page_bytes)


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


def _adapter(folder: CheckpointFolder, described: Description, tokenizer: CheckpointTokenizer) -> Adapter:
    mask = described.mask
    if mask is None:
        named = optional_object(folder, TOKENIZER_SETTINGS).get("mask_token")
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
