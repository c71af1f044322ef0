"""One model ready to serve: weights, tokenizer, core."""

from dataclasses import dataclass

from unmask.backend import ModelInfo
from unmask.clock import Clock
from unmask.core.core import Core
from unmask.engine.adapter import Adapter
from unmask.engine.engine import Engine
from unmask.engine.runner import Runner
from unmask.engine.weights import LoadedModel
from unmask.sched.batcher import Batcher
from unmask.sched.settings import SchedSettings
from unmask.tasks.registry import all_tasks
from unmask.text.tokenizer import SPECIALS, Special, TextTokenizer

EMBEDDED_ADAPTER = Adapter(
    mask=Special.MASK,
    end=Special.END,
    forbidden=tuple(token for token in range(SPECIALS) if token != Special.END),
)
DEFAULT_MAX_TOKENS = 96


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModel:
    """A model's description, its tokenizer, and the core that runs it."""

    info: ModelInfo
    tokenizer: TextTokenizer
    core: Core


def serve_model(loaded: LoadedModel, tokenizer: TextTokenizer, settings: SchedSettings, clock: Clock) -> ServedModel:
    """Put an embedded model behind a core of its own."""
    shape = loaded.network.shape
    longest = max(shape.canvas_lengths)
    info = ModelInfo(
        name=loaded.name,
        digest=loaded.digest,
        parameters=sum(parameter.numel() for parameter in loaded.network.parameters()),
        context_length=shape.context_length,
        canvas_lengths=shape.canvas_lengths,
        default_canvas_length=longest,
        max_steps=longest,
        default_steps=longest,
        default_max_tokens=DEFAULT_MAX_TOKENS,
        tasks=tuple(all_tasks()),
    )
    runner = Runner(loaded.network, pages=settings.pages, page_size=settings.page_size)
    batcher = Batcher(
        settings, mask=EMBEDDED_ADAPTER.mask, end=EMBEDDED_ADAPTER.end, decode=tokenizer.decode, clock=clock
    )
    engine = Engine(runner, EMBEDDED_ADAPTER, clock.now)
    return ServedModel(info=info, tokenizer=tokenizer, core=Core(engine, batcher, clock))
