"""What memory a checkpoint needs, estimated before any of it is loaded."""

from dataclasses import dataclass

import torch

from unmask.engine.families.family import Description
from unmask.engine.families.gemma.network import GemmaNetwork
from unmask.engine.families.runner import keeps_kv
from unmask.engine.families.shape import layer_products, tensor_shapes
from unmask.engine.families.shards import parameters_of
from unmask.engine.precision import dtype_of, product_bytes
from unmask.errors import ConfigError
from unmask.local.memory import free_memory
from unmask.sched.settings import SchedSettings
from unmask.types import ApproximateKv, Precision

GIBIBYTE = 1 << 30
LOGIT_COPIES = 4
"""Numbers in single precision that a step makes of each logit at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryNeed:
    """Bytes: of weights, of pages, and of what a forward of the fullest batch makes."""

    weights: int
    pages: int
    forward: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.weights + self.pages + self.forward


def memory_need(
    described: Description, settings: SchedSettings, precision: Precision, approximate: ApproximateKv = ApproximateKv()
) -> MemoryNeed:
    """Estimate what a checkpoint takes."""
    shape, size = described.shape, dtype_of(precision).itemsize
    held = settings.pages * settings.page_size
    block = described.pattern.block
    # Where nothing is kept for good, a step may run all that stands in the pages.
    tokens = held if block is None else settings.prefill_tokens + 2 * block * settings.max_rows
    heads = (shape.heads + 2 * shape.key_heads) * shape.head_width
    asked = settings.max_rows * described.default_canvas_length
    return MemoryNeed(
        weights=weight_bytes(described, precision),
        pages=held * (8 + keeps_kv(described.pattern, approximate) * shape.layers * shape.kept * size),
        forward=tokens * (4 * shape.width + 3 * shape.hidden + 2 * heads) * size
        + LOGIT_COPIES * 4 * asked * shape.vocabulary,
    )


def weight_bytes(described: Description, precision: Precision) -> int:
    """Return what weights take: the products of layers in their precision, embedding, head and norms beside them."""
    shape, names = described.shape, described.names
    products = layer_products(shape, names) * shape.layers
    others = parameters_of(tensor_shapes(shape, names)) - sum(out * inputs for out, inputs in products)
    laid_out = sum(product_bytes(size, precision) for size in products)
    return laid_out + others * dtype_of(precision).itemsize


def gemma_memory_need(
    network: GemmaNetwork, canvas_length: int, settings: SchedSettings, dtype: torch.dtype
) -> MemoryNeed:
    """Estimate what a DiffusionGemma takes; it may be without weights yet."""
    config, size = network.config, dtype.itemsize
    held = settings.pages * settings.page_size
    tokens = max(settings.prefill_tokens, canvas_length) + canvas_length * settings.max_rows
    widest = max(heads * width for heads, width in network.kept)
    hidden = config.intermediate_size + config.top_k_experts * config.moe_intermediate_size
    queries = config.num_attention_heads * max(width for _, width in network.kept)
    return MemoryNeed(
        weights=network.parameters * size,
        pages=held * 2 * size * sum(heads * width for heads, width in network.kept),
        # Canvases are run together, and each one's logits by themselves.
        forward=tokens * (4 * config.hidden_size + 3 * hidden + 2 * (queries + 2 * widest)) * size
        + (LOGIT_COPIES + 2) * 4 * canvas_length * config.vocab_size,
    )


def check_fits(name: str, need: MemoryNeed, free: int | None, device: torch.device, precision: Precision) -> None:
    """Refuse a checkpoint that memory has no room for.

    Args:
        name: of the model.
        need: what it takes.
        free: bytes that are free; ``None`` where the system does not say, which refuses nothing.
        device: where it is to run.
        precision: what in.

    Raises:
        ConfigError: it does not fit.
    """
    if free is None or need.total <= free:
        return
    raise ConfigError(
        f"models names {name}, which takes about {_gibibytes(need.total)}: {_gibibytes(need.weights)} of weights in "
        f"{precision}, {_gibibytes(need.pages)} of pages and {_gibibytes(need.forward)} in a full forward, and "
        f"{_gibibytes(free)} are free on {device}. Lower page_pool_tokens or max_rows, choose a precision of "
        "fewer bits, or a machine with more memory.",
        param="models",
    )


def free_bytes(device: torch.device) -> int | None:
    """Return the bytes that are free on a device; ``None`` where the system does not say."""
    return int(torch.cuda.mem_get_info(device)[0]) if device.type == "cuda" else free_memory()


def _gibibytes(count: int) -> str:
    return f"{count / GIBIBYTE:.2f} GiB"
