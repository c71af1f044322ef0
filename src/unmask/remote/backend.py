"""The `Backend` that passes requests on to servers of the OpenAI API."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, nullcontext

from unmask.backend import DoneEvent, Event, Generation, ModelInfo, Request, Timing, Usage, last_generation
from unmask.clock import Clock
from unmask.draining import Drain
from unmask.errors import UnknownModelError, shown
from unmask.load import EngineState, ModelLoad
from unmask.remote.answer import AnswerReader
from unmask.remote.body import body_of, check_request
from unmask.remote.errors import UpstreamChangedError, UpstreamError
from unmask.remote.estimate import Asked
from unmask.remote.expecting import expected_of
from unmask.remote.meter import Window
from unmask.remote.places import Places
from unmask.remote.retrying import pause_s
from unmask.remote.served import ServedRemotely
from unmask.remote.spent import spent_of
from unmask.remote.upstream import Deadlines, Upstream
from unmask.replicas.choice import Choice
from unmask.replicas.prompt import read_text
from unmask.types import Outcome


class RemoteBackend:
    """The `Backend` in front of other servers.

    What was cut off is not told to `Request.left`: upstreams do not say what an abandoned request took.

    Args:
        models: at least one.
        clock: of the times that answers carry.
        draw: returns numbers from 0 to 1, for the pauses between tries.
        sleep: waits for seconds.
    """

    def __init__(
        self,
        models: Sequence[ServedRemotely],
        *,
        clock: Clock,
        draw: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._models = {model.info.name: model for model in models}
        self._clock = clock
        self._draw = draw
        self._sleep = sleep
        self._steps = dict.fromkeys(self._models, 0)
        self._places = {name: Places(clock) for name in self._models}
        self._answers_as: dict[str, str] = {}
        self._drain = Drain()

    def models(self) -> tuple[ModelInfo, ...]:
        """Return what is served."""
        return tuple(model.info for model in self._models.values())

    def problems(self) -> tuple[str, ...]:
        """Name the upstreams of models, or of their pools, that none of theirs can be asked for at present, and why."""
        found = []
        for name, model in self._models.items():
            for place, pool in model.places(name):
                problems = [upstream.breaker.problem for upstream in pool.upstreams.values()]
                if all(problem is not None for problem in problems):
                    found.append(f"no upstream of {place} is well: {'; '.join(filter(None, problems))}")
        return tuple(found)

    def load(self) -> tuple[ModelLoad, ...]:
        """Return what is under way, and who waits for a place. Pages, ticks and busy time are the upstreams', and 0.

        The state is always running: a circuit that is open mends itself, so `problems` tells of it.
        """
        return tuple(self._load(model) for model in self._models.values())

    async def generate(self, request: Request) -> Generation:
        """Run a request to its end.

        Raises:
            InvalidRequestError: a value is not allowed, or the upstream has no such control.
            UpstreamError: no upstream has answered it to its end.
            DrainingError: the backend is shutting down.
        """
        return await last_generation(self.stream(request))

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Run a request and yield its text as it comes, `DoneEvent` last; closing the iterator hangs up.

        Raises:
            InvalidRequestError: a value is not allowed, or the upstream has no such control.
            UpstreamError: no upstream has answered it to its end. Text that was yielded before stands for nothing.
            DrainingError: the backend is shutting down.
        """
        with self._drain.opened():
            if request.model not in self._models:
                raise UnknownModelError(request.model, self._models)
            model = self._models[request.model]
            check_request(request, model.info, model.settings.kind)
            async with aclosing(self._tried(request, model.serving(request))) as events:
                async for event in events:
                    yield event

    async def drain(self) -> None:
        """Accept nothing new, finish what runs, close all connections."""
        await self._drain.run()
        for model in self._models.values():
            for upstream in model.pool.upstreams.values():
                await upstream.aclose()

    async def _tried(self, request: Request, model: ServedRemotely) -> AsyncGenerator[Event, None]:
        """Try a request until it is answered, or has failed for good; never again once text was passed on."""
        arrived = self._clock.now() if request.arrived is None else request.arrived
        timeouts = model.settings.timeouts_of(request.terms.origin)
        deadlines = Deadlines(timeouts=timeouts, ends=asyncio.get_running_loop().time() + timeouts.total)
        prompt = read_text(request)
        tried: list[str] = []
        while True:
            choice = model.pool.choose(prompt, tried)
            tried.append(choice.name)
            is_begun = False
            try:
                with model.pool.router.visit(prompt, choice):
                    async with aclosing(self._asked(request, model, choice, deadlines, arrived)) as events:
                        async for event in events:
                            is_begun = True
                            yield event
                        return
            except UpstreamError as error:
                pause = None if is_begun or not error.may_retry else self._pause(model, error, tried)
                if pause is None or pause > deadlines.left(pause):
                    raise
            await self._sleep(pause)

    def _pause(self, model: ServedRemotely, error: UpstreamError, tried: Sequence[str]) -> float | None:
        has_other = any(name not in tried for name in model.pool.takers)
        # What one upstream asks for says nothing of another, which is asked at once.
        pause = pause_s(model.settings.retries, len(tried), self._draw, None if has_other else error.retry_after_s)
        return 0.0 if has_other and pause is not None else pause

    async def _asked(
        self, request: Request, model: ServedRemotely, choice: Choice, deadlines: Deadlines, arrived: float
    ) -> AsyncGenerator[Event, None]:
        """Ask one upstream once, and tell its circuit how it went."""
        upstream = model.pool.upstreams[choice.name]
        upstream.breaker.enter()
        is_told = False
        try:
            async with aclosing(self._answered(request, model, upstream, deadlines, arrived)) as events:
                async for event in events:
                    if isinstance(event, DoneEvent):
                        upstream.breaker.succeed()
                        is_told = True
                        canvas = request.canvas_length or model.info.default_canvas_length
                        model.pool.router.answered(choice, event.generation.usage, canvas)
                    yield event
        except UpstreamError as error:
            if error.is_unhealthy:
                upstream.breaker.fail(error.reason)
                is_told = True
                if not upstream.breaker.takes:
                    model.pool.router.lost(upstream.name)
            raise
        finally:
            if not is_told:
                upstream.breaker.leave()

    async def _answered(
        self, request: Request, model: ServedRemotely, upstream: Upstream, deadlines: Deadlines, arrived: float
    ) -> AsyncGenerator[Event, None]:
        reader = AnswerReader(expected_of(request, model.info, model.settings, upstream.name))
        body = body_of(request, model.settings, model.max_tokens_of(request), model.allowance_of(request))
        started = finished = arrived
        meter = model.meters.get(upstream.name)
        places = self._places[request.model]
        with (
            nullcontext() if meter is None else meter.window() as window,
            places.visit(request.terms, deadlines.timeouts.total) as visit,
        ):
            async with aclosing(upstream.answer(body, deadlines, lambda: reader.is_done)) as pieces:
                async for piece in pieces:
                    if not piece:
                        places.begin(visit)
                        if window is not None:
                            await window.begin(deadlines)
                        started = self._clock.now()
                    for committed in reader.feed(piece):
                        self._check_model(reader, model, upstream)
                        yield committed
                    finished = self._clock.now()
                    # While its place is still held, so that none that waits for it is counted with it.
                    if window is not None and reader.is_done:
                        await window.end(deadlines)
            self._check_model(reader, model, upstream)
            timing = Timing(arrived=arrived, started=started, finished=finished)
            generation = self._generation(reader, timing, _usage(request, reader, model, window))
        self._steps[request.model] += generation.usage.steps_used
        yield DoneEvent(generation=model.tiered(request, generation))

    def _generation(self, reader: AnswerReader, timing: Timing, usage: Usage) -> Generation:
        finish = reader.finish()
        return Generation(
            outcome=Outcome.COMPLETED,
            finish_reason=finish,
            text=reader.text,
            tokens=(),
            usage=usage,
            timing=timing,
            logprobs=reader.logprobs,
        )

    def _check_model(self, reader: AnswerReader, model: ServedRemotely, upstream: Upstream) -> None:
        """Refuse an answer of another model than those before were of."""
        said = reader.model
        if said is None:
            return
        first = self._answers_as.setdefault(model.info.name, said) if not model.settings.answers_as else ""
        allowed = model.settings.answers_as or (first,)
        if said not in allowed:
            raise UpstreamChangedError(
                upstream.name,
                f"it answers as model {shown(said)}, allowed: {', '.join(allowed)}. "
                "If both are right, name them in answers_as; if the model has changed, start anew.",
            )

    def _load(self, model: ServedRemotely) -> ModelLoad:
        upstreams, places = model.pool.upstreams.values(), self._places[model.info.name]
        open_to = sum(upstream.settings.concurrency for upstream in upstreams if upstream.breaker.takes)
        return ModelLoad(
            model=model.info.name,
            state=EngineState.RUNNING,
            running=sum(upstream.running for upstream in upstreams),
            waiting=sum(upstream.waiting for upstream in upstreams),
            max_running=sum(upstream.settings.concurrency for upstream in upstreams),
            kv_pages_used=0,
            kv_pages=0,
            page_tokens=0,
            steps=self._steps[model.info.name],
            ticks=0,
            busy_s=0.0,
            replicas=model.loads(),
            queues=places.queues(),
            works=places.works(open_to),
            service_p95_s=places.held_p95_s,
        )


def _usage(request: Request, reader: AnswerReader, model: ServedRemotely, window: Window | None) -> Usage:
    """Return what an answer cost, with what can be told of its steps where the server tells nothing."""
    usage, allowance = reader.usage(), model.allowance_of(request)
    if allowance is None:
        return usage
    asked = Asked(allowance=allowance, tokens=usage.completion_tokens, may_begin_more=bool(request.stop))
    estimate = None if window is None or usage.steps_known else window.estimate(asked)
    return spent_of(usage, allowance, estimate)
