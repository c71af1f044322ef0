"""A backend that answers at once, so that what a request takes is the server's own."""

from collections.abc import AsyncGenerator

from unmask.backend import CommitEvent, DoneEvent, Event, Generation, ModelInfo, Request, Timing, Usage
from unmask.load import EngineState, ModelLoad
from unmask.types import ExitReason, FinishReason, Outcome, Precision

NAME = "instant"
TEXT = "The sum of twelve and thirty is forty-two."
MODEL = ModelInfo(
    name=NAME,
    digest="0" * 16,
    parameters=0,
    precision=Precision.FLOAT32,
    context_length=1_024,
    canvas_lengths=(32,),
    default_canvas_length=32,
    max_steps=32,
    default_steps=32,
    default_max_tokens=64,
    tasks=(),
)
USAGE = Usage(
    prompt_tokens=16,
    completion_tokens=12,
    cached_tokens=0,
    prefill_tokens=16,
    commit_tokens=0,
    steps_allocated=32,
    steps_used=8,
    canvases=1,
    exit_reason=ExitReason.CONVERGED,
)
_GENERATION = Generation(
    outcome=Outcome.COMPLETED,
    finish_reason=FinishReason.STOP,
    text=TEXT,
    tokens=(),
    usage=USAGE,
    timing=Timing(arrived=0.0, started=0.0, finished=0.0),
)


class InstantBackend:
    """Says the same to everybody, and holds nothing."""

    def models(self) -> tuple[ModelInfo, ...]:
        """Return the one there is."""
        return (MODEL,)

    def problems(self) -> tuple[str, ...]:
        """Return nothing: it always serves."""
        return ()

    def load(self) -> tuple[ModelLoad, ...]:
        """Return an engine without work."""
        idle = ModelLoad(
            model=NAME,
            state=EngineState.RUNNING,
            running=0,
            waiting=0,
            max_running=1,
            kv_pages_used=0,
            kv_pages=1,
            page_tokens=1,
            steps=0,
            ticks=0,
            busy_s=0.0,
        )
        return (idle,)

    async def generate(self, request: Request) -> Generation:  # noqa: ARG002 - everybody is told the same
        """Return the answer."""
        return _GENERATION

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:  # noqa: ARG002 - same
        """Yield the answer."""
        yield CommitEvent(text=TEXT)
        yield DoneEvent(generation=_GENERATION)

    async def drain(self) -> None:
        """Return at once: nothing runs."""
