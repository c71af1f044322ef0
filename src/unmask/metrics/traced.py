"""A backend whose generations are spans."""

from asyncio import CancelledError
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager

from unmask.backend import Backend, DoneEvent, Event, Generation, Request, Usage
from unmask.metrics.in_front import BackendInFront
from unmask.metrics.tracing import Attributes, Span, Tracing
from unmask.types import Outcome

NAME = "generate"


class TracedBackend(BackendInFront):
    """Serves as the backend behind it does; every generation is a span within its request's."""

    def __init__(self, backend: Backend, tracing: Tracing) -> None:
        super().__init__(backend)
        self._tracing = tracing

    async def generate(self, request: Request) -> Generation:
        """Run a request to its end."""
        with self._span(request) as span:
            generation = await self._backend.generate(request)
            _note(span, generation)
        return generation

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Run a request and yield its events."""
        with self._span(request) as span:
            async with aclosing(self._backend.stream(request)) as events:
                async for event in events:
                    if isinstance(event, DoneEvent):
                        _note(span, event.generation)
                    yield event

    @contextmanager
    def _span(self, request: Request) -> Iterator[Span]:
        with self._tracing.part(NAME) as span:
            span.note(_asked(request))
            try:
                yield span
            except (CancelledError, GeneratorExit):
                span.note({"unmask.outcome": Outcome.ABORTED.value})
                raise
            except Exception as error:
                # Its text may quote the request.
                span.fail(type(error).__name__)
                raise


def _asked(request: Request) -> Attributes:
    budget = {} if request.budget is None else {"unmask.max_steps": request.budget.max_steps}
    bucket = {} if request.bucket is None else {"unmask.bucket": request.bucket.value}
    return {
        "gen_ai.request.model": request.model,
        "unmask.has_draft": request.draft is not None,
        "unmask.service_class": request.terms.name,
        **budget,
        **bucket,
    }


def _steps(spent: Usage) -> Attributes:
    if not spent.steps_known:
        return {}
    return {
        "unmask.steps.allocated": spent.steps_allocated,
        "unmask.steps.used": spent.steps_used,
        "unmask.canvases": spent.canvases,
    }


def _note(span: Span, generation: Generation) -> None:
    spent, timing = generation.usage, generation.timing
    span.note(
        {
            "unmask.outcome": generation.outcome.value,
            "unmask.exit_reason": spent.exit_reason.value,
            **_steps(spent),
            "unmask.prefill_tokens": spent.prefill_tokens,
            "unmask.queue_s": timing.started - timing.arrived,
            "unmask.run_s": timing.finished - timing.started,
            "gen_ai.usage.input_tokens": spent.prompt_tokens,
            "gen_ai.usage.cache_read.input_tokens": spent.cached_tokens,
            "gen_ai.usage.output_tokens": spent.completion_tokens,
        }
    )
    if generation.outcome is Outcome.FAILED:
        span.fail(Outcome.FAILED.value)
