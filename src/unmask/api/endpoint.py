"""The endpoints that generate."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from unmask.api.admission import admit
from unmask.api.answer import Answer
from unmask.api.authentication import require_role
from unmask.api.body import BodyLimits, parse_object, read_body
from unmask.api.call import Call, Delivery
from unmask.api.chance import Chance
from unmask.api.connection import while_connected
from unmask.api.event_stream import EventStream, StreamPace
from unmask.api.headers import STEPS, answer_headers
from unmask.api.measured import STOPWATCH
from unmask.api.responses import json_response
from unmask.api.running import Running
from unmask.api.serving import Serving
from unmask.api.shape import AnswerShape
from unmask.api.stopwatch import Stopwatch
from unmask.api.traced import SPAN, CallTrace
from unmask.backend import Backend
from unmask.control.answered import Answered
from unmask.control.controller import Controller
from unmask.metrics.generations import GenerationInstruments
from unmask.tenants.role import KeyRole

ReadCall = Callable[[dict[str, object]], Call]
"""Checks a parsed body and makes the call of it; raises an `InvalidRequestError` for the first thing wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateEndpoint:
    """Answers one of the generating endpoints: reads, checks, generates, writes.

    Attributes:
        control: gives requests their budgets.
        read: what the endpoint's bodies mean.
        shape: what its answers look like.
        pace: how long its streams may be silent.
    """

    backend: Backend
    running: Running
    control: Controller
    instruments: GenerationInstruments
    chance: Chance
    body_limits: BodyLimits
    read: ReadCall
    shape: AnswerShape
    pace: StreamPace

    async def answer(self, http: HttpRequest) -> Response:
        """Answer a request; a client that hangs up cancels its generations."""
        principal = require_role(http, (KeyRole.INFERENCE,))
        # Here so that no body is read in vain; serving checks again, for others arrive while this one is read.
        self.running.check()
        raw = await read_body(http.headers, http.receive, self.body_limits)
        call = admit(self.read(parse_object(raw)), self.control, principal)
        state = http.scope["state"]
        state[STOPWATCH] = stopwatch = Stopwatch(self.chance.clock, state["arrived"])
        serving = Serving(
            call=call,
            backend=self.backend,
            running=self.running,
            control=self.control,
            request_id=state["request_id"],
            stopwatch=stopwatch,
        )
        answer_id = f"{self.shape.id_prefix}{self.chance.new_id()}"
        answer = Answer(
            id=answer_id,
            created=int(self.chance.now()),
            call=call,
            shape=self.shape,
            verified=partial(self.instruments.verified, call.model.name),
            decided=CallTrace(state[SPAN], call, answer_id).decided if SPAN in state else None,
        )
        if call.delivery is not Delivery.WHOLE:
            return EventStream(serving, answer, self.pace)
        return _whole(serving, answer, await while_connected(http.receive, serving.collect()))


def _whole(serving: Serving, answer: Answer, decided: tuple[Answered, ...]) -> Response:
    choices = [answer.finish(one) for one in decided]
    response = json_response(answer.whole(choices))
    response.headers[STEPS] = str(sum(one.generation.usage.steps_used for one in decided))
    # Last, so that writing the answer counts.
    response.headers.update(answer_headers(serving.call, serving.stopwatch))
    return response
