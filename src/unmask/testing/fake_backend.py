"""A backend without an engine: it answers what a test tells it to, step by step."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, replace

from unmask.backend import (
    CommitEvent,
    DoneEvent,
    DraftPiece,
    Event,
    ExitRecord,
    Generation,
    ModelInfo,
    Request,
    StepEvent,
    last_generation,
)
from unmask.draining import Drain
from unmask.load import EngineState, ModelLoad
from unmask.routing import PrefillCounts, ReplicaLoad
from unmask.service import ClassWork, QueueLoad
from unmask.testing.builders import make_generation, make_model, make_usage
from unmask.types import ExitAction, ExitReason, Outcome
from unmask.work import PageAlert

STEPS = 4
PAGES = 64
IDLE_QUEUE = QueueLoad(
    service_class="", bucket=None, waiting=0, oldest_s=0.0, patience_s=60.0, admitted=0, waited_s=0.0
)


class FakeBackend:
    """Serves requests deterministically and remembers them.

    Args:
        answer: the text of every answer, or a function from the request to it.
        models: what it says it serves.
        error: raised in place of an answer.
        generation: returned as it is in place of an answer.
        problems: what it says keeps it from serving.
        state: what it says of its engines.
        queues: what it says of each model's queues.
        works: what it says that each class of a model has to do.
        page_alert: what it says of each model's pages.
        replicas: what it says of each model's replicas.
        prefills: what it says of prompts that were to be run on other replicas.
        step_s: seconds of real time that a step takes.
        gate: what every request waits for before its last step.
        exit: where it says that the exit rule of a request was met, of requests that have one; a text of its own
            there is the answer if the rule stops requests.
    """

    def __init__(  # noqa: PLR0913 - each is something a test may be about
        self,
        answer: str | Callable[[Request], str] = "42",
        *,
        models: Sequence[ModelInfo] = (make_model("tiny"), make_model("nano")),
        error: Exception | None = None,
        generation: Generation | None = None,
        problems: tuple[str, ...] = (),
        state: EngineState = EngineState.RUNNING,
        queues: tuple[QueueLoad, ...] = (IDLE_QUEUE,),
        works: tuple[ClassWork, ...] = (),
        page_alert: PageAlert = PageAlert.NONE,
        replicas: tuple[ReplicaLoad, ...] = (),
        prefills: PrefillCounts = PrefillCounts(),
        step_s: float = 0.0,
        gate: asyncio.Event | None = None,
        exit: ExitRecord | Callable[[Request], ExitRecord | None] | None = None,  # noqa: A002 - as in `Generation`
    ) -> None:
        self._answer = answer
        self._models = tuple(models)
        self._error = error
        self._generation = generation
        self._problems = problems
        self.state = state
        self._queues = queues
        self._works = works
        self._page_alert = page_alert
        self._replicas = replicas
        self._prefills = prefills
        self._step_s = step_s
        self._gate = gate
        self._exit = exit
        self._drain = Drain()
        self._running: Counter[str] = Counter()
        self._steps: Counter[str] = Counter()
        self.requests: list[Request] = []
        self.aborted: list[Request] = []
        self.drained = False

    def models(self) -> tuple[ModelInfo, ...]:
        """Return what it was told to serve."""
        return self._models

    def problems(self) -> tuple[str, ...]:
        """Return what it was told to."""
        return self._problems

    def load(self) -> tuple[ModelLoad, ...]:
        """Return what runs: a page a request, a tick a step, and nothing ever waits."""
        return tuple(self._load(model.name) for model in self._models)

    async def generate(self, request: Request) -> Generation:
        """Take every step and return the answer."""
        return await last_generation(self.stream(request))

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Reveal the answer from left to right over the steps, then commit it."""
        with self._drain.opened():
            self.requests.append(request)
            self._running[request.model] += 1
            taken = Taken()
            try:
                async for event in self._events(request, taken):
                    yield event
            except (asyncio.CancelledError, GeneratorExit):
                self.aborted.append(request)
                tell_left(request, taken.steps)
                raise
            finally:
                self._running[request.model] -= 1

    async def drain(self) -> None:
        """Refuse what is new and wait for what runs."""
        await self._drain.run()
        self.drained = True

    def _load(self, model: str) -> ModelLoad:
        running, steps = self._running[model], self._steps[model]
        return ModelLoad(
            model=model,
            state=self.state,
            running=running,
            waiting=0,
            max_running=PAGES,
            kv_pages_used=running,
            kv_pages=PAGES,
            page_tokens=16,
            steps=steps,
            ticks=steps,
            busy_s=steps * self._step_s,
            queues=self._queues,
            works=self._works,
            page_alert=self._page_alert,
            replicas=self._replicas,
            prefills=self._prefills,
        )

    async def _events(self, request: Request, taken: "Taken") -> AsyncGenerator[Event, None]:
        text = self._answer if isinstance(self._answer, str) else self._answer(request)
        met = self._met(request)
        if met is not None and request.exit is not None and request.exit.action is ExitAction.STOP:
            text = met.text
        for step in range(1, STEPS + 1):
            if step == STEPS and self._gate is not None:
                await self._gate.wait()
            await asyncio.sleep(self._step_s)
            self._steps[request.model] += 1
            taken.steps = step
            if self._error is not None:
                raise self._error
            if request.snapshots:
                yield _snapshot(text, step)
        yield CommitEvent(text=text)
        yield DoneEvent(generation=self._generation or _generation(request, text, met))

    def _met(self, request: Request) -> ExitRecord | None:
        if request.exit is None:
            return None
        return self._exit(request) if callable(self._exit) else self._exit


@dataclass(slots=True)
class Taken:
    """Steps that a request has taken so far."""

    steps: int = 0


def tell_left(request: Request, steps: int) -> None:
    """Tell a request what it took by the time its caller left, if it wants to know."""
    if request.left is not None:
        usage = make_usage(completion_tokens=0, steps_used=steps, exit_reason=ExitReason.ABORTED)
        request.left(make_generation("", outcome=Outcome.ABORTED, finish_reason=None, usage=usage))


def _snapshot(text: str, step: int) -> StepEvent:
    """Show a quarter more fixed at each step, the next character guessed, the rest masked."""
    fixed = len(text) * step // STEPS
    pieces = (
        DraftPiece(text=letter if place <= fixed else "", fixed=place < fixed) for place, letter in enumerate(text)
    )
    return StepEvent(canvas=0, step=step, max_steps=STEPS, pieces=tuple(pieces))


def _generation(request: Request, text: str, met: ExitRecord | None) -> Generation:
    prompt = sum(len(message.content.split()) for message in request.messages)
    allocated = request.budget.max_steps if request.budget else 16
    usage = make_usage(prompt_tokens=prompt, steps_allocated=allocated, steps_used=min(STEPS, allocated))
    if met is not None and request.exit is not None and request.exit.action is ExitAction.STOP:
        usage = replace(usage, steps_used=met.steps, exit_reason=ExitReason.EARLY_EXIT)
    return replace(make_generation(text), usage=usage, exit=met)
