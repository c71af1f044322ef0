"""The chat completions endpoint."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.types import Receive

from unmask.api.answer import AnswerLabel, completion
from unmask.api.body import parse_object, read_body
from unmask.api.errors import ClientGoneError, UnfinishedError
from unmask.api.responses import json_response
from unmask.api.running import Running
from unmask.api.translate import to_call
from unmask.api.validate import validate_chat
from unmask.backend import Backend, Generation, ModelInfo, Request
from unmask.errors import UnknownModelError
from unmask.types import Outcome

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
    """What differs from call to call, as arguments: ids, seeds and wall-clock time."""

    new_id: Callable[[], str]
    draw_seed: Callable[[], int]
    now: Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatEndpoint:
    """Answers ``POST /v1/chat/completions``."""

    backend: Backend
    running: Running
    max_body_bytes: int
    chance: Chance

    async def answer(self, http: HttpRequest) -> Response:
        """Read, check, generate, answer; a client that hangs up cancels its generation."""
        # Here so that no body is read in vain; `track` checks again, for others arrive while this one is read.
        self.running.check()
        raw = await read_body(http.receive, self.max_body_bytes, http.headers.get("content-length"))
        body = validate_chat(parse_object(raw))
        model = find_model(self.backend, body.model)
        call = to_call(body, model, self.chance.draw_seed)
        generation = await self._generate(call.requests[0], http.receive)
        if generation.outcome is not Outcome.COMPLETED:
            raise _unfinished(generation, http.scope["state"]["request_id"])
        label = AnswerLabel(id=f"chatcmpl-{self.chance.new_id()}", created=int(self.chance.now()), model=model)
        headers = {"x-unmask-steps": str(generation.usage.steps_used)}
        return json_response(completion(label, generation), headers=headers)

    async def _generate(self, request: Request, receive: Receive) -> Generation:
        """Generate for as long as the client is there and the server waits."""
        generating = asyncio.ensure_future(self.backend.generate(request))
        hanging_up = asyncio.ensure_future(_disconnected(receive))
        try:
            with self.running.track(generating):
                await asyncio.wait((generating, hanging_up), return_when=asyncio.FIRST_COMPLETED)
            if generating.cancelled():
                raise UnfinishedError("The server stops and could not wait for this request.", Outcome.ABORTED)
            if generating.done():
                return generating.result()
            raise ClientGoneError("The client closed the connection before its answer.")
        finally:
            await _cancelled(generating, hanging_up)


def find_model(backend: Backend, name: str) -> ModelInfo:
    """Return the model of a name, or raise `UnknownModelError`."""
    served = backend.models()
    model = next((model for model in served if model.name == name), None)
    if model is None:
        raise UnknownModelError(name, (model.name for model in served))
    return model


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _cancelled(*tasks: asyncio.Future[Generation] | asyncio.Future[None]) -> None:
    """Cancel what still runs and wait until it has let go of what it holds."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _unfinished(generation: Generation, request_id: str) -> UnfinishedError:
    if generation.outcome is Outcome.ABORTED:
        return UnfinishedError(
            "The server stopped this request before it was finished. Send it again.", Outcome.ABORTED
        )
    _LOG.error("request %s failed: %s", request_id, generation.error)
    return UnfinishedError(f"The generation failed; the server's log says why under {request_id}.", generation.outcome)
