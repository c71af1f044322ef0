"""Serves requests on cores in this process."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial
from typing import assert_never

from unmask.backend import (
    DoneEvent,
    DraftPiece,
    Event,
    ExitRecord,
    Generation,
    ModelInfo,
    Request,
    StepEvent,
    Timing,
    Usage,
    last_generation,
)
from unmask.core.front import Front, Kind
from unmask.errors import InvalidRequestError, NoCapacityError, UnknownModelError
from unmask.load import EngineState, ModelLoad, summed
from unmask.local.limits import check_draft_tokens, check_text_length, make_submission
from unmask.local.model import ServedModel
from unmask.local.output import Output
from unmask.local.prefixes import Prefixes, no_prefixes
from unmask.local.settled import begun_with, pieces
from unmask.prefix import KvPrefix, PromptPrefix
from unmask.sequence import Begun, Sequence
from unmask.text.chat import ChatTokenizer
from unmask.types import Outcome, Precision, StepTrace

STUCK_S = 60.0
"""Seconds without a finished tick after which an engine with work counts as stuck."""


class LocalBackend:
    """The `Backend` over our own engine: one core and one thread a model, and one more a further precision."""

    def __init__(self, models: tuple[ServedModel, ...], *, stuck_s: float = STUCK_S) -> None:
        self._stuck_s = stuck_s
        self._models = {model.info.name: model for model in models}
        self._fronts: dict[str, dict[Precision | None, Front]] = {
            model.info.name: {
                model.info.precision: Front(model.core),
                **{side.precision: Front(side.core) for side in model.beside},
            }
            for model in models
        }

    def models(self) -> tuple[ModelInfo, ...]:
        """Return what is served."""
        return tuple(model.info for model in self._models.values())

    def problems(self) -> tuple[str, ...]:
        """Name the models of which an engine thread has died or finishes no tick."""
        found = (self._problem(name, front) for name, fronts in self._fronts.items() for front in fronts.values())
        return tuple(dict.fromkeys(problem for problem in found if problem is not None))

    def load(self) -> tuple[ModelLoad, ...]:
        """Return what the engine threads of each model have last said of themselves."""
        return tuple(self._joint(model, tuple(self._fronts[name].values())) for name, model in self._models.items())

    async def generate(self, request: Request) -> Generation:
        """Run a request to its end."""
        return await last_generation(self.stream(request))

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Run a request and yield its events."""
        model = self._model(request.model)
        front = self._front(request, model.info)
        if self._state(front) is EngineState.STUCK:
            raise NoCapacityError(f"{self._problem(request.model, front)}; send the request to another server")
        if request.draft is not None:
            check_draft_tokens(request.draft, model.tokenizer)
        check_text_length(request, model.info, model.tokenizer.longest)
        # Off the loop: while one long prompt is encoded, everyone else's requests go on.
        prompt = await asyncio.to_thread(model.tokenizer.encode_chat, request.messages)
        begun = Begun() if request.draft is None else begun_with(request.draft.before, model.tokenizer.token_bytes)
        submission = make_submission(request, model.info, tuple(prompt), begun)
        output = Output(submission.stop, model.tokenizer)
        left = None if request.left is None else partial(_tell_left, request.left, output)
        async with aclosing(front.run(submission, left)) as notices:
            async for notice in notices:
                if notice.kind is Kind.STEPPED and notice.entry is not None:
                    yield _step_event(notice.entry, model.tokenizer)
                committed = output.take(notice)
                if committed is not None:
                    yield committed
                if notice.sequence is not None:
                    yield DoneEvent(generation=_generation(notice.sequence, output))

    def check_prefixes(self) -> None:
        """Refuse models whose keys and values cannot be made elsewhere.

        Raises:
            ConfigError: naming one.
        """
        for name, fronts in self._fronts.items():
            if any(front.prefixes is None for front in fronts.values()):
                raise no_prefixes(self._models[name].info)

    async def prefix(self, request: Request) -> PromptPrefix:
        """Return the beginning of a request's prompt that fills whole pages, and how much of it is kept here."""
        model = self._model(request.model)
        prefixes = self._prefixes(request)
        check_text_length(request, model.info, model.tokenizer.longest)
        prompt = await asyncio.to_thread(model.tokenizer.encode_chat, request.messages)
        return await prefixes.find(request.tenant, prompt)

    async def prefill(self, request: Request) -> KvPrefix:
        """Run the beginning of a request's prompt for another engine, and return its keys and values.

        Raises:
            PrefixError: the engine failed at it.
            RetryLaterError: nothing more is taken at present.
        """
        return await self._prefixes(request).make(request, await self.prefix(request))

    async def keep(self, request: Request, prefix: PromptPrefix, brought: KvPrefix) -> None:
        """Keep keys and values that another engine has made of a request's prompt.

        Raises:
            PrefixError: they are of something else, or there is no room for all of them.
        """
        await self._prefixes(request).keep(prefix, brought)

    async def drain(self) -> None:
        """Accept nothing new, finish what runs, stop."""
        await asyncio.gather(*(front.drain() for fronts in self._fronts.values() for front in fronts.values()))

    def _front(self, request: Request, model: ModelInfo) -> Front:
        fronts, precision = self._fronts[request.model], request.precision or model.precision
        if precision not in fronts:
            allowed = ", ".join(str(served) for served in fronts)
            raise InvalidRequestError("precision", str(precision), allowed, "Leave it out for the model's own.")
        return fronts[precision]

    def _prefixes(self, request: Request) -> Prefixes:
        model = self._model(request.model).info
        front = self._front(request, model)
        if front.prefixes is None:
            raise no_prefixes(model)
        return Prefixes(front, front.prefixes, model, request.precision or model.precision)

    def _problem(self, name: str, front: Front) -> str | None:
        state = self._state(front)
        match state:
            case EngineState.RUNNING:
                return None
            case EngineState.STUCK:
                return f"engine of {name} is stuck: it has work and has finished no tick for {self._stuck_s:g} s"
            case EngineState.STOPPED:
                return f"engine of {name} has stopped"
            case _:
                assert_never(state)

    def _state(self, front: Front) -> EngineState:
        if not front.is_alive:
            return EngineState.STOPPED
        return EngineState.STUCK if front.stalled_s > self._stuck_s else EngineState.RUNNING

    def _joint(self, model: ServedModel, fronts: tuple[Front, ...]) -> ModelLoad:
        """Return the load of a model's engines, one a precision, as one: any of them in trouble is trouble."""
        loads = [self._load(model, front) for front in fronts]
        state = max((load.state for load in loads), key=list(EngineState).index)
        return summed(loads, state)

    def _load(self, model: ServedModel, front: Front) -> ModelLoad:
        # Every core of a model has the same sizes.
        load, sizes = front.load, model.core.batcher.settings
        return ModelLoad(
            model=model.info.name,
            state=self._state(front),
            running=load.running,
            waiting=load.waiting,
            max_running=sizes.max_rows,
            kv_pages_used=load.pages_used,
            kv_pages=sizes.pages,
            page_tokens=sizes.page_size,
            steps=load.steps,
            ticks=load.ticks,
            busy_s=load.busy_s,
            queues=load.queues,
            work=load.work,
            useful_tokens=load.useful_tokens,
            growth=load.growth,
            works=load.works,
            service_p95_s=load.service_p95_s,
            silent_s=front.stalled_s,
            page_bytes=model.page_bytes,
            page_alert=load.page_alert,
            page_alerts=load.page_alerts,
            holds=load.holds,
        )

    def _model(self, name: str) -> ServedModel:
        if name not in self._models:
            raise UnknownModelError(name, self._models)
        return self._models[name]


def _step_event(entry: StepTrace, tokenizer: ChatTokenizer) -> StepEvent:
    texts = pieces(entry.draft, tokenizer.token_bytes)
    return StepEvent(
        canvas=entry.canvas,
        step=entry.step + 1,
        max_steps=entry.max_steps,
        pieces=tuple(DraftPiece(text=text, fixed=fixed) for text, fixed in zip(texts, entry.fixed, strict=True)),
    )


def _tell_left(left: Callable[[Generation], None], output: Output, sequence: Sequence) -> None:
    left(_generation(sequence, output))


def _generation(sequence: Sequence, output: Output) -> Generation:
    assert sequence.outcome is not None, "an ended sequence has its outcome"
    return Generation(
        outcome=sequence.outcome,
        finish_reason=sequence.finish_reason,
        text=sequence.text,
        tokens=(*sequence.submission.begun.tokens, *sequence.output),
        usage=usage_of(sequence),
        timing=Timing(
            arrived=sequence.arrived,
            started=sequence.arrived if sequence.started is None else sequence.started,
            finished=sequence.arrived if sequence.finished is None else sequence.finished,
        ),
        trace=tuple(sequence.trace),
        logprobs=tuple(output.logprobs),
        exit=_exit_record(sequence),
        error=sequence.error,
        bucket=sequence.submission.bucket,
    )


def _exit_record(sequence: Sequence) -> ExitRecord | None:
    """Say where the exit rule of a completed request was met: in the request itself, or in its control."""
    if sequence.outcome is not Outcome.COMPLETED:
        return None
    met = sequence if sequence.exited else sequence.control
    if met is None:
        return None
    read = () if met.met is None else met.met.values
    signals = tuple((signal, value) for signal, value in read if value is not None)
    return ExitRecord(steps=met.steps, text=met.text, signals=signals)


def usage_of(sequence: Sequence) -> Usage:
    """Return what an ended sequence cost."""
    total = sequence.submission.budget.max_total_steps
    assert total is not None, "a submission carries a total"
    assert sequence.exit_reason is not None, "an ended sequence has a reason"
    begun = len(sequence.submission.begun.tokens)
    return Usage(
        prompt_tokens=len(sequence.submission.prompt) - begun,
        completion_tokens=begun + len(sequence.output),
        cached_tokens=sequence.cached_tokens,
        prefill_tokens=sequence.prefill_tokens,
        commit_tokens=sequence.commit_tokens,
        steps_allocated=total,
        steps_used=sequence.steps,
        canvases=sequence.canvases,
        exit_reason=sequence.exit_reason,
        drafted=sequence.drafted,
        accepted=sequence.accepted,
    )
