"""One model ready to serve: weights, tokenizer, core."""

from dataclasses import dataclass, replace

from unmask.backend import ModelInfo
from unmask.clock import Clock
from unmask.core.core import Core
from unmask.core.prefixes import PrefixStore
from unmask.engine.adapter import Adapter
from unmask.engine.engine import Engine
from unmask.engine.kv_pages import KvPages
from unmask.engine.network import Network
from unmask.engine.precision import dtype_of, precision_fault
from unmask.engine.runner import RowRunner, Runner
from unmask.engine.weights import LoadedModel
from unmask.errors import ConfigError, WeightsError
from unmask.plan import PlanRunner
from unmask.sched.batcher import Batcher
from unmask.sched.ending import TokenBytes
from unmask.sched.settings import SchedSettings
from unmask.tasks.registry import all_tasks
from unmask.text.chat import ChatTokenizer
from unmask.text.tokenizer import SPECIALS, Special, TextTokenizer
from unmask.types import ApproximateKv, Precision

EMBEDDED_ADAPTER = Adapter(
    # Plain integers: numpy asks members of an enum for their array interface at every comparison.
    mask=int(Special.MASK),
    end=int(Special.END),
    forbidden=tuple(token for token in range(SPECIALS) if token != Special.END),
)
DEFAULT_MAX_TOKENS = 96
QUEUE_LIMIT = 10_000
"""Requests that may wait for a model, unless its maker says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrecisionCore:
    """A core, and the precision that it runs in."""

    precision: Precision
    core: Core


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModel:
    """A model's description, its tokenizer, the core that runs it, and those that run it in other precisions.

    Each core has weights, pages and a queue of its own: rows of one forward share their precision. ``page_bytes`` is
    the memory that a KV page of the first takes.
    """

    info: ModelInfo
    tokenizer: ChatTokenizer
    core: Core
    beside: tuple[PrecisionCore, ...] = ()
    page_bytes: int = 0


def model_info(loaded: LoadedModel, precision: Precision, beside: tuple[Precision, ...] = ()) -> ModelInfo:
    """Describe an embedded model that runs in a precision, and in others where requests name them."""
    shape = loaded.network.shape
    longest = max(shape.canvas_lengths)
    return ModelInfo(
        name=loaded.name,
        digest=loaded.digest,
        parameters=sum(parameter.numel() for parameter in loaded.network.parameters()),
        precision=precision,
        context_length=shape.context_length,
        canvas_lengths=shape.canvas_lengths,
        default_canvas_length=longest,
        max_steps=longest,
        default_steps=longest,
        default_max_tokens=DEFAULT_MAX_TOKENS,
        tasks=tuple(all_tasks()),
        precisions=(precision, *beside),
        is_deterministic=True,
        approximate=ApproximateKv(),
    )


def make_core(
    runner: RowRunner,
    token_bytes: TokenBytes,
    settings: SchedSettings,
    clock: Clock,
    *,
    queue_limit: int = QUEUE_LIMIT,
    adapter: Adapter = EMBEDDED_ADAPTER,
    kv: KvPages | None = None,
) -> Core:
    """Put a model's runner behind a scheduler; see `make_core_over`."""
    engine = Engine(runner, adapter)
    return make_core_over(engine, token_bytes, settings, clock, queue_limit=queue_limit, adapter=adapter, kv=kv)


def make_core_over(
    engine: PlanRunner,
    token_bytes: TokenBytes,
    settings: SchedSettings,
    clock: Clock,
    *,
    queue_limit: int,
    adapter: Adapter,
    kv: KvPages | None = None,
) -> Core:
    """Put an engine behind a scheduler, which does no more than the model can; ``kv`` are its runner's pages."""
    possible = replace(
        settings,
        prefix_cache=settings.prefix_cache and adapter.exact_cache,
        fused_prefill=settings.fused_prefill and adapter.fused_prefill,
        fused_commit=settings.fused_commit and adapter.fused_commit,
    )
    batcher = Batcher(
        possible,
        mask=adapter.mask,
        end=adapter.end,
        other_ends=adapter.other_ends,
        token_bytes=token_bytes,
        clock=clock,
        queue_limit=queue_limit,
    )
    prefixes = PrefixStore(batcher.pool, kv, settings.page_size) if kv is not None and possible.prefix_cache else None
    return Core(engine, batcher, clock, prefixes)


def serve_model(
    loaded: LoadedModel,
    tokenizer: TextTokenizer,
    settings: SchedSettings,
    clock: Clock,
    *,
    queue_limit: int = QUEUE_LIMIT,
    precision: Precision = Precision.FLOAT32,
    beside: tuple[Precision, ...] = (),
) -> ServedModel:
    """Put an embedded model behind a core of its own, and others ``beside`` it for further precisions.

    Raises:
        ConfigError: there is no memory for so many pages, or it cannot run in a precision here.
        WeightsError: network and tokenizer do not belong together.
    """
    vocabulary = loaded.network.shape.vocabulary
    if vocabulary != tokenizer.size:
        raise WeightsError(
            f"the weights of {loaded.name!r} know {vocabulary} tokens and the tokenizer {tokenizer.size}: "
            "they do not belong together; install the package again or train the model anew"
        )
    first, *others = (
        PrecisionCore(
            precision=each,
            core=make_core(runner, tokenizer.token_bytes, settings, clock, queue_limit=queue_limit, kv=runner.kv),
        )
        for each in (precision, *beside)
        for runner in (_make_runner(loaded.network, settings, each),)
    )
    info = model_info(loaded, precision, beside)
    return ServedModel(
        info=info,
        tokenizer=tokenizer,
        core=first.core,
        beside=tuple(others),
        page_bytes=page_bytes(loaded.network, settings.page_size, precision),
    )


def page_bytes(network: Network, page_size: int, precision: Precision) -> int:
    """Return the memory that a KV page of a model takes, in bytes: keys and values of every layer."""
    shape = network.shape
    return page_size * shape.layers * 2 * shape.width * dtype_of(precision).itemsize


def _make_runner(network: Network, settings: SchedSettings, precision: Precision) -> Runner:
    fault = precision_fault(precision, network.shape)
    if fault is not None:
        others = ", ".join(each for each in Precision if precision_fault(each, network.shape) is None)
        raise ConfigError(f"precision is {precision}, allowed: {others}: {fault}. Choose another.", param="precision")
    try:
        return Runner(network, pages=settings.pages, page_size=settings.page_size, precision=precision)
    except RuntimeError as error:
        # Torch has no narrower error for memory on the processor.
        tokens = settings.pages * settings.page_size
        size = settings.pages * page_bytes(network, settings.page_size, precision)
        raise ConfigError(
            f"page_pool_tokens is {tokens}, which takes {size} bytes of memory for each such model, and there is not "
            f"as much: {str(error).splitlines()[0]}. Choose fewer.",
            param="page_pool_tokens",
        ) from error
