"""Makes a span of every HTTP request, and says in it what its answer was and cost; nothing of what was said."""

from typing import Any, cast

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from unmask.api.call import Call, Delivery
from unmask.api.finished import FinishedChoice
from unmask.api.measured import OTHER
from unmask.api.responses import ERROR_CODE
from unmask.api.usage import usage
from unmask.metrics.tracing import Attribute, Attributes, Span, Tracing

SPAN = "span"
"""Where in the scope's state an endpoint finds the `Span` of its request, if there is one."""
PROVIDER = "unmask"
OPERATIONS = {"/v1/chat/completions": "chat", "/v1/completions": "text_completion"}
SPENT = {
    "steps_allocated": "unmask.steps.allocated",
    "steps_used": "unmask.steps.used",
    "steps_reexpansion": "unmask.steps.reexpansion",
    "steps_verify": "unmask.steps.verify",
    "steps_search": "unmask.steps.search",
    "reexpansions": "unmask.reexpansions",
    "canvases": "unmask.canvases",
    "exit_reason": "unmask.exit_reason",
    "verify": "unmask.verify",
    "bucket": "unmask.bucket",
    "cap_applied": "unmask.cap_applied",
}
"""What of ``usage.diffusion`` becomes which attribute."""
SEARCHED = {
    "method": "unmask.search.method",
    "width": "unmask.search.width",
    "source": "unmask.search.source",
    "limit": "unmask.search.limit",
    "dropped": "unmask.search.dropped",
    "reward": "unmask.search.reward",
}
"""What of its ``search``."""


class Traced:
    """Plain ASGI, around everything that answers."""

    def __init__(self, app: ASGIApp, *, tracing: Tracing) -> None:
        self._app = app
        self._tracing = tracing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        # Probes come every few seconds and say nothing of anybody's request.
        if scope["type"] != "http" or scope["path"] not in OPERATIONS:
            await self._app(scope, receive, send)
            return
        operation, method = OPERATIONS[scope["path"]], scope["method"]
        state = scope.setdefault("state", {})
        with self._tracing.serve(operation, _headers(scope)) as span:
            span.note({"http.request.method": method if method in {"POST", "GET", "HEAD", "OPTIONS"} else "_OTHER"})
            state[SPAN] = span

            async def noting(message: Message) -> None:
                if message["type"] == "http.response.start":
                    span.note({"http.response.status_code": message["status"]})
                await send(message)

            try:
                await self._app(scope, receive, noting)
            finally:
                span.note(
                    {
                        "http.route": getattr(scope.get("route"), "path_format", OTHER),
                        "gen_ai.operation.name": operation,
                        "gen_ai.provider.name": PROVIDER,
                        "unmask.request_id": state.get("request_id", ""),
                    }
                )
                if state.get(ERROR_CODE) is not None:
                    span.fail(state[ERROR_CODE])


class CallTrace:
    """Says in a request's span what was asked, and once all of its choices are decided what they cost."""

    def __init__(self, span: Span, call: Call, answer_id: str) -> None:
        self._span = span
        self._call = call
        self._choices: list[FinishedChoice] = []
        span.note({**_asked(call), "gen_ai.response.id": answer_id})

    def decided(self, choice: FinishedChoice) -> None:
        """Take a choice that is decided."""
        self._choices.append(choice)
        if len(self._choices) == len(self._call.requests):
            self._span.note(_answered(self._call, self._choices))


def _headers(scope: Scope) -> dict[str, str]:
    """Return the headers that say of which trace a request is."""
    wanted = (b"traceparent", b"tracestate")
    return {name.decode(): value.decode("latin-1") for name, value in scope["headers"] if name in wanted}


def _asked(call: Call) -> Attributes:
    request = call.requests[0]
    asked: dict[str, Attribute | None] = {
        "gen_ai.request.model": call.model.name,
        "gen_ai.request.choice.count": len(call.requests),
        "gen_ai.request.stream": call.delivery is not Delivery.WHOLE,
        "gen_ai.request.max_tokens": request.max_tokens,
        "gen_ai.request.seed": request.sampling.seed,
        "gen_ai.request.temperature": request.sampling.temperature,
        "gen_ai.request.top_p": request.sampling.top_p,
        "gen_ai.output.type": "text" if call.answer_format is None else "json",
        "gen_ai.response.model": call.model.name,
        "unmask.delivery": call.delivery.value,
        "unmask.tenant": request.tenant,
    }
    if call.admitted:
        given = call.admitted[0].assignment
        asked |= {
            "unmask.task": given.task,
            "unmask.service_class": None if given.service_class is None else given.service_class.name,
            "unmask.policy": given.policy_name,
            "unmask.budget_source": given.source.value,
            "unmask.control": given.is_control,
        }
    return {name: value for name, value in asked.items() if value is not None}


def _searched(search: dict[str, Attribute | None] | None) -> dict[str, Attribute | None]:
    return {} if search is None else {attribute: search[field] for field, attribute in SEARCHED.items()}


def _answered(call: Call, choices: list[FinishedChoice]) -> Attributes:
    cost = cast("dict[str, Any]", usage(call, choices))
    spent: dict[str, Attribute | None] = cost["diffusion"]
    named: dict[str, Attribute | None] = {
        "gen_ai.response.finish_reasons": tuple(choice.finish_reason.value for choice in choices),
        "gen_ai.usage.input_tokens": cost["prompt_tokens"],
        "gen_ai.usage.output_tokens": cost["completion_tokens"],
        "gen_ai.usage.cache_read.input_tokens": cost["prompt_tokens_details"]["cached_tokens"],
        **{attribute: spent[field] for field, attribute in SPENT.items()},
        **_searched(cost["diffusion"]["search"]),
    }
    return {name: value for name, value in named.items() if value is not None}
