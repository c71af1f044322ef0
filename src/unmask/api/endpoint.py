"""The endpoints that generate."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from unmask.api.admission import admit
from unmask.api.answer import Answer
from unmask.api.authentication import require_role
from unmask.api.body import BodyLimits, parse_object, read_body
from unmask.api.breaking import reason_of
from unmask.api.cache_control import with_cache_use
from unmask.api.call import Call, Delivery
from unmask.api.chance import Chance
from unmask.api.connection import while_connected
from unmask.api.costs import cost_headers
from unmask.api.errors import ClientGoneError
from unmask.api.event_stream import EventStream, StreamPace
from unmask.api.headers import STEPS, answer_headers
from unmask.api.idempotency import fingerprint, idempotency_key
from unmask.api.measured import STOPWATCH
from unmask.api.responses import json_response
from unmask.api.running import Running
from unmask.api.serving import Serving
from unmask.api.shape import AnswerShape
from unmask.api.stopwatch import Stopwatch
from unmask.api.traced import SPAN, CallTrace
from unmask.backend import Backend
from unmask.control.accounts import Accounts
from unmask.control.answered import Answered
from unmask.control.caller import Caller
from unmask.control.controller import Controller
from unmask.control.quotas import limits_of, owner_of
from unmask.errors import UnmaskError
from unmask.metrics.generations import GenerationInstruments
from unmask.tenants.principal import Principal
from unmask.tenants.role import KeyRole

ReadCall = Callable[[dict[str, object]], Call]
"""Checks a parsed body and makes the call of it; raises an `InvalidRequestError` for the first thing wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateEndpoint:
    """Answers one of the generating endpoints: reads, checks, generates, writes.

    Attributes:
        control: gives requests their budgets.
        accounts: books them.
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
    accounts: Accounts = field(default_factory=Accounts)

    async def answer(self, http: HttpRequest) -> Response:
        """Answer a request; a client that hangs up cancels its generations."""
        call, caller = await self._admitted(http, require_role(http, (KeyRole.INFERENCE,)))
        state = http.scope["state"]
        account = self.accounts.account(caller, call.admitted)
        state[STOPWATCH] = stopwatch = Stopwatch(self.chance.clock, state["arrived"])
        serving = Serving(
            call=call,
            backend=self.backend,
            running=self.running,
            control=self.control,
            request_id=state["request_id"],
            stopwatch=stopwatch,
            account=account,
        )
        answer_id = f"{self.shape.id_prefix}{self.chance.new_id()}"
        answer = Answer(
            id=answer_id,
            created=int(self.chance.now()),
            call=call,
            shape=self.shape,
            verified=partial(self.instruments.verified, call.model.name),
            settled=lambda: account.settled,
            decided=CallTrace(state[SPAN], call, answer_id).decided if SPAN in state else None,
        )
        if call.delivery is not Delivery.WHOLE:
            return EventStream(serving, answer, self.pace)
        return _whole(serving, answer, await while_connected(http.receive, serving.collect()))

    async def _admitted(self, http: HttpRequest, principal: Principal | None) -> tuple[Call, Caller]:
        """Read a call and give it its budgets, and say whom it is booked to; one that is turned away is booked."""
        state = http.scope["state"]
        caller = Caller(
            owner=owner_of(principal),
            limits=limits_of(principal),
            request_id=state["request_id"],
            arrived=state["arrived"],
        )
        try:
            # Here so that no body is read in vain; serving checks again, for others arrive while this one is read.
            self.running.check()
            raw = await read_body(http.headers, http.receive, self.body_limits)
            call = admit(with_cache_use(self.read(parse_object(raw)), http.headers), self.control, principal)
            if not self.accounts.is_booked:
                return call, caller
            return call, replace(
                caller,
                owner=owner_of(principal, user=call.user, tags=call.tags),
                idempotency_key=idempotency_key(http.headers),
                fingerprint=fingerprint(http.url.path, raw),
            )
        except UnmaskError as error:
            if not isinstance(error, ClientGoneError):
                await self.accounts.refuse(caller, reason_of(error))
            raise


def _whole(serving: Serving, answer: Answer, decided: tuple[Answered, ...]) -> Response:
    choices = [answer.finish(one) for one in decided]
    response = json_response(answer.whole(choices))
    spent = [one.generation.usage for one in decided]
    if all(one.steps_known for one in spent):
        response.headers[STEPS] = str(sum(one.steps_used for one in spent))
    response.headers.update(cost_headers(serving.account.settled))
    # Last, so that writing the answer counts.
    matches = serving.matches.values()
    response.headers.update(answer_headers(serving.call, serving.stopwatch, serving.account.standings, matches))
    return response
