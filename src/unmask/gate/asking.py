"""Asks one scenario, turn by turn, as a served character would be asked."""

from collections.abc import Sequence

from unmask.backend import Backend, Generation, Request
from unmask.gate.patience import GaveUpError, Trying, completed
from unmask.gate.response import Response, ResponseKey, System, TurnResponse
from unmask.gate.retriever import blinded
from unmask.gate.run_plan import Run, Way
from unmask.gate.scenario import Scenario
from unmask.knowledge.context import Context
from unmask.knowledge.world import World
from unmask.types import Message, Mode, Role, Sampling, StepBudget


class Asker:
    """Answers keys of a run; the first prompt of a scenario is the same for every system and seed."""

    def __init__(self, run: Run, trying: Trying) -> None:
        self._run = run
        self._trying = trying
        self._scenarios = {scenario.id: scenario for scenario in run.suite.scenarios}
        self._endpoints = {endpoint.system.label: endpoint for endpoint in run.endpoints}
        self._first: dict[str, Context] = {}

    async def answer(self, key: ResponseKey) -> Response:
        """Ask a scenario to its end, or until the infrastructure fails it for good.

        Raises:
            UnmaskError: a request is not allowed.
        """
        scenario = self._scenarios[key.scenario]
        conversation: list[Message] = []
        turns: list[TurnResponse] = []
        tries = 0
        for number, turn in enumerate(scenario.turns):
            context = self._context(scenario, number, turns)
            question = Message(role=Role.USER, content=turn.question)
            world = self._run.suite.worlds[scenario.world]
            messages = (system_message(world, scenario, context), *conversation, question)
            try:
                (generation, seconds), tried = await self._generated(key, messages)
            except GaveUpError as error:
                return Response(key=key, turns=tuple(turns), fault=error.reason, attempts=tries + error.tries)
            tries += tried
            turns.append(_turn_response(messages, context, generation, seconds))
            # What was answered wrongly is what the next question follows upon.
            conversation += (question, Message(role=Role.ASSISTANT, content=generation.text))
        return Response(key=key, turns=tuple(turns), attempts=tries)

    def _context(self, scenario: Scenario, turn: int, earlier: Sequence[TurnResponse]) -> Context:
        if turn == 0 and scenario.id in self._first:
            return self._first[scenario.id]
        retriever = self._run.retriever
        seen = scenario if retriever.sees_needed else blinded(scenario)
        context = retriever.context(self._run.suite.worlds[scenario.world], seen, turn, tuple(earlier))
        if turn == 0:
            self._first[scenario.id] = context
        return context

    async def _generated(self, key: ResponseKey, messages: tuple[Message, ...]) -> tuple[tuple[Generation, float], int]:
        endpoint = self._endpoints[key.system]
        request = request_for(endpoint.system, self._run.way, messages, key.seed)
        return await self._trying.until_answered(lambda: self._timed(endpoint.backend, request))

    async def _timed(self, backend: Backend, request: Request) -> tuple[Generation, float]:
        clock = self._trying.clock
        sent = clock.now()
        generation = completed(await backend.generate(request))
        return generation, clock.now() - sent


def system_message(world: World, scenario: Scenario, context: Context) -> Message:
    """Return what is said before any question: the facts, and who answers."""
    speaker = world.entities[scenario.speaker]
    lines = (context.text, f"You are {speaker.names[scenario.language]}.")
    return Message(role=Role.SYSTEM, content="\n".join(filter(None, lines)))


def request_for(system: System, way: Way, messages: tuple[Message, ...], seed: int) -> Request:
    """Return the request that puts messages to a system."""
    is_diffusion = system.mode is Mode.DIFFUSION
    return Request(
        model=system.model,
        messages=messages,
        max_tokens=way.max_tokens,
        budget=StepBudget(max_steps=way.steps) if way.steps is not None and is_diffusion else None,
        sampling=Sampling(temperature=way.temperature, seed=seed),
        mode=system.mode,
    )


def _turn_response(
    messages: tuple[Message, ...], context: Context, generation: Generation, seconds: float
) -> TurnResponse:
    return TurnResponse(
        messages=messages,
        context=context,
        text=generation.text,
        finish_reason=generation.finish_reason.value if generation.finish_reason is not None else "",
        prompt_tokens=generation.usage.prompt_tokens,
        output_tokens=generation.usage.completion_tokens,
        steps=generation.usage.steps_used if generation.usage.steps_known else None,
        seconds=seconds,
    )
