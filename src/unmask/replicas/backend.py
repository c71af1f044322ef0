"""The `Backend` over several backends of the same models."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace

from unmask.backend import Backend, DoneEvent, Event, Generation, ModelInfo, Request, last_generation
from unmask.errors import DrainingError, NoCapacityError, RetryLaterError, UnknownModelError
from unmask.load import EngineState, ModelLoad, summed
from unmask.replicas.choice import Choice
from unmask.replicas.prompt import Prompt, ReadPrompt
from unmask.replicas.router import Router
from unmask.types import Outcome

MOST_LOST = 2
"""Replicas that one request may be lost with. A further one is not risked on what may be the cause of it."""


class _LostError(Exception):
    """A replica stopped with a request of whose answer nothing was passed on."""

    def __init__(self, done: DoneEvent) -> None:
        super().__init__()
        self.done = done


_BEST_FIRST = (EngineState.RUNNING, EngineState.STUCK, EngineState.STOPPED)
"""A model makes progress as long as one of its replicas does."""


class ReplicaBackend:
    """Serves each request on one of several backends that serve the same models.

    A replica whose engine makes no progress gets nothing. A request that is refused by one for the time being, or lost
    with it before anything of its answer was passed on, is sent to another; only the one that answers it is told of, so
    that it is booked once.

    Args:
        replicas: backends by name, one at least, each with an engine of its own.
        read: reads prompts by the pages of these engines.
    """

    def __init__(self, replicas: Mapping[str, Backend], read: ReadPrompt) -> None:
        self._replicas = dict(replicas)
        self._read = read
        self._models = {model.name: model for model in next(iter(self._replicas.values())).models()}
        pages = {load.model: load.kv_pages for load in next(iter(self._replicas.values())).load()}
        self._routers = {
            name: Router(tuple(self._replicas), pages=pages[name], first_work=float(model.default_max_tokens))
            for name, model in self._models.items()
        }
        self._is_draining = False

    def models(self) -> tuple[ModelInfo, ...]:
        """Return what is served."""
        return tuple(self._models.values())

    def problems(self) -> tuple[str, ...]:
        """Say what is wrong with the replicas of models that none of theirs takes requests for."""
        loads = self._loads()
        dead = [name for name in self._models if not _takers(loads[name])]
        said = ((name, backend.problems()) for name, backend in self._replicas.items()) if dead else ()
        return tuple(f"replica {name}: {problem}" for name, problems in said for problem in problems)

    def load(self) -> tuple[ModelLoad, ...]:
        """Return what the replicas of each model have to do together, and what each has."""
        return tuple(self._merged(name, loads) for name, loads in self._loads().items())

    async def generate(self, request: Request) -> Generation:
        """Run a request to its end."""
        return await last_generation(self.stream(request))

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Run a request and yield its events.

        Raises:
            DrainingError: nothing new is taken.
            NoCapacityError: no replica makes progress.
            RetryLaterError: none takes it at present; what the last one asked says.
            UnknownModelError: no model has such a name.
        """
        if self._is_draining:
            raise DrainingError("the server is shutting down; send the request to another one")
        if request.model not in self._models:
            raise UnknownModelError(request.model, self._models)
        # Off the loop, as a long prompt takes long to read.
        prompt = await asyncio.to_thread(self._read, request)
        tried: list[str] = []
        lost = 0
        while True:
            choice = self._chosen(request.model, prompt, tried)
            tried.append(choice.name)
            is_begun = False
            try:
                async with aclosing(self._served(request, prompt, choice)) as events:
                    async for event in events:
                        is_begun = True
                        yield event
                    return
            except RetryLaterError:
                if is_begun or not self._has_other(request.model, tried):
                    raise
            except _LostError as error:
                lost += 1
                if is_begun or lost >= MOST_LOST or not self._has_other(request.model, tried):
                    yield error.done
                    return
                request = replace(request, arrived=error.done.generation.timing.arrived)

    async def drain(self) -> None:
        """Accept nothing new, finish what runs, stop."""
        self._is_draining = True
        await asyncio.gather(*(backend.drain() for backend in self._replicas.values()))

    async def _served(self, request: Request, prompt: Prompt, choice: Choice) -> AsyncGenerator[Event, None]:
        """Run a request on a replica."""
        router, model = self._routers[request.model], self._models[request.model]
        with router.visit(prompt, choice):
            async with aclosing(self._replicas[choice.name].stream(request)) as events:
                async for event in events:
                    if isinstance(event, DoneEvent):
                        if self._is_lost(event.generation, request.model, choice.name):
                            router.lost(choice.name)
                            raise _LostError(event)
                        canvas = request.canvas_length or model.default_canvas_length
                        router.answered(choice, event.generation.usage, canvas)
                    yield event

    def _chosen(self, model: str, prompt: Prompt, tried: list[str]) -> Choice:
        takers = _takers(self._loads()[model])
        if not takers:
            raise NoCapacityError(f"no replica of {model} makes progress; send the request to another server")
        return self._routers[model].choose(prompt, takers, tried, is_retry=bool(tried))

    def _has_other(self, model: str, tried: list[str]) -> bool:
        return any(name not in tried for name in _takers(self._loads()[model]))

    def _is_lost(self, generation: Generation, model: str, name: str) -> bool:
        return generation.outcome is Outcome.FAILED and name not in _takers(self._loads()[model])

    def _loads(self) -> dict[str, dict[str, ModelLoad]]:
        """Return what each model has to do on each replica."""
        found: dict[str, dict[str, ModelLoad]] = {name: {} for name in self._models}
        for name, backend in self._replicas.items():
            for load in backend.load():
                found[load.model][name] = load
        return found

    def _merged(self, model: str, loads: Mapping[str, ModelLoad]) -> ModelLoad:
        told = (
            self._routers[model].told(
                name,
                problem=None if load.state is EngineState.RUNNING else f"its engine is {load.state}",
                running=load.running,
                waiting=load.waiting,
            )
            for name, load in loads.items()
        )
        state = min((load.state for load in loads.values()), key=_BEST_FIRST.index)
        return summed(tuple(loads.values()), state, tuple(told))


def _takers(loads: Mapping[str, ModelLoad]) -> dict[str, int]:
    """Return the replicas that make progress, with the requests that they have."""
    return {name: load.running + load.waiting for name, load in loads.items() if load.state is EngineState.RUNNING}
