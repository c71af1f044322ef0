"""Puts a published checkpoint behind a core."""

from pathlib import Path

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
from unmask.engine.precision import dtype_of
from unmask.errors import CheckpointFolderError
from unmask.local.checkpoint_files import (
    TOKENIZER,
    TOKENIZER_SETTINGS,
    Wanted,
    chosen_device,
    chosen_precision,
    optional_object,
    read_tokenizer,
)
from unmask.local.gemma import serve_gemma
from unmask.local.model import QUEUE_LIMIT, ServedModel, make_core
from unmask.local.need import check_fits, free_bytes, memory_need
from unmask.sched.settings import SchedSettings
from unmask.tasks.registry import all_tasks
from unmask.text.checkpoint_tokenizer import CheckpointTokenizer
from unmask.types import Message, Precision, Role


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
    if is_gemma(folder.config):
        return serve_gemma(folder, name, settings, clock, say=say, wanted=wanted, queue_limit=queue_limit)
    described = family_of(folder.config).describe(folder.config)
    tokenizer = read_tokenizer(folder, described.shape.vocabulary, end_texts=described.end_texts)
    adapter = _adapter(folder, described, tokenizer)
    precision, device = chosen_precision(folder, wanted), chosen_device(wanted.device)
    dtype = dtype_of(precision)
    check_fits(name, memory_need(described, settings, dtype), free_bytes(device), device, dtype)
    shapes = tensor_shapes(described.shape, described.names)
    with Shards(folder, shapes, dtype=dtype, device=device, say=say) as shards:
        digest = digest_of(folder, say)
        decoder = Decoder(described.shape, described.names, shards.read)
    runner = FamilyRunner(
        decoder, described.pattern, mask=adapter.mask, pages=settings.pages, page_size=settings.page_size
    )
    core = make_core(runner, tokenizer.token_bytes, settings, clock, queue_limit=queue_limit, adapter=adapter)
    info = _info(name, digest, described, precision, parameters_of(shapes), tokenizer)
    return ServedModel(info=info, tokenizer=tokenizer, core=core)


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
        template_tokens=len(tokenizer.encode_chat([Message(role=Role.USER, content="")])),
    )
