"""Puts a DiffusionGemma checkpoint behind a core."""

from unmask.backend import Lever, ModelInfo
from unmask.clock import Clock
from unmask.engine.adapter import NO_MASK, Adapter
from unmask.engine.families.folder import CheckpointFolder, Say, digest_of
from unmask.engine.families.gemma.config import describe
from unmask.engine.families.gemma.library import transformers_library
from unmask.engine.families.gemma.network import GemmaNetwork
from unmask.engine.families.gemma.runner import GemmaRunner
from unmask.engine.families.shards import Shards
from unmask.engine.precision import dtype_of
from unmask.engine.renoising.engine import RenoisingEngine
from unmask.errors import ConfigError
from unmask.local.checkpoint_files import (
    FLOATS,
    GENERATION,
    Wanted,
    chosen_device,
    chosen_precision,
    is_deterministic,
    optional_object,
    read_tokenizer,
)
from unmask.local.model import ServedModel, make_core_over
from unmask.local.need import check_fits, free_bytes, gemma_memory_need
from unmask.sched.settings import SchedSettings
from unmask.tasks.registry import all_tasks
from unmask.types import ApproximateKv, Message, Precision, Role

LEVERS = (Lever.BUDGET, Lever.EXIT, Lever.SNAPSHOTS, Lever.TRACE, Lever.LOGPROBS)
"""There is one strategy, canvases start from noise and not from drafts, and the encoder has no head to decode with."""


def serve_gemma(
    folder: CheckpointFolder,
    name: str,
    settings: SchedSettings,
    clock: Clock,
    *,
    say: Say,
    wanted: Wanted,
    queue_limit: int,
) -> ServedModel:
    """Load a DiffusionGemma and put it behind a core of its own; see `unmask.local.checkpoint.serve_checkpoint`.

    Raises:
        CheckpointFolderError: a file is missing, damaged, or not one that can be served.
        ConfigError: transformers is not there, device or precision cannot be had, or memory has no room.
    """
    described = describe(folder.config, optional_object(folder, GENERATION))
    tokenizer = read_tokenizer(folder, described.terms.vocabulary, end_ids=described.end_ids)
    precision, device = chosen_precision(folder, wanted), chosen_device(wanted.device)
    if precision not in FLOATS:
        raise ConfigError(
            f"precision is {precision}, allowed for this checkpoint: {Precision.FLOAT32}, {Precision.BFLOAT16}, as its "
            "layers are those of transformers. Leave it out for the checkpoint's own.",
            param="precision",
        )
    dtype = dtype_of(precision)
    network = GemmaNetwork(transformers_library(name), folder.config)
    need = gemma_memory_need(network, described.canvas_length, settings, dtype)
    check_fits(name, need, free_bytes(device), device, precision)
    with Shards(folder, network.shapes, dtype=dtype, device=device, say=say) as shards:
        digest = digest_of(folder, say)
        network.load(shards.read, device)
    first, *others = tokenizer.ends
    unknown = (token for token in range(described.terms.vocabulary) if not tokenizer.has(token))
    adapter = Adapter(mask=NO_MASK, end=first, other_ends=tuple(others), forbidden=tuple(unknown))
    runner = GemmaRunner(network, pages=settings.pages, page_size=settings.page_size)
    engine = RenoisingEngine(runner, adapter, described.terms)
    info = ModelInfo(
        name=name,
        digest=digest,
        parameters=network.parameters,
        precision=precision,
        context_length=described.context_length,
        canvas_lengths=(described.canvas_length,),
        default_canvas_length=described.canvas_length,
        max_steps=max(described.canvas_length, described.default_steps),
        default_steps=min(described.default_steps, described.canvas_length),
        default_max_tokens=described.default_max_tokens,
        tasks=tuple(all_tasks()),
        levers=LEVERS,
        precisions=(precision,),
        approximate=ApproximateKv(),
        is_deterministic=is_deterministic(device),
        template_tokens=len(tokenizer.encode_chat([Message(role=Role.USER, content="")])),
    )
    core = make_core_over(engine, tokenizer.token_bytes, settings, clock, queue_limit=queue_limit, adapter=adapter)
    return ServedModel(info=info, tokenizer=tokenizer, core=core, page_bytes=runner.page_bytes)
