"""From a `Request` to the body that an upstream is sent; what it cannot do is refused, by the field's name."""

from collections.abc import Iterator

from unmask.backend import HIGHEST_TEMPERATURE, MOST_ALTERNATIVES, MOST_STOPS, Lever, ModelInfo, Request
from unmask.errors import InvalidRequestError
from unmask.remote.allowance import Allowance, check_draft, vllm_arguments
from unmask.remote.errors import UnsupportedByUpstreamError
from unmask.remote.settings import Kind, RemoteModel
from unmask.strategy import StrategyChoice
from unmask.types import Mode, Sampling

Json = dict[str, object]


def check_request(request: Request, model: ModelInfo, kind: Kind) -> None:
    """Refuse what the upstream cannot do, and values that no server takes.

    A field that its caller has left alone is never refused. `Request.mode` is not looked at for servers of other
    makes: diffusion is its default, so nothing tells whether a caller meant it, and they write in the one way they do.

    Raises:
        InvalidRequestError: a value is not allowed.
        UnsupportedByUpstreamError: a field asks for what the upstream cannot do.
    """
    for lever, param, value in _pulled(request):
        if lever not in model.levers:
            raise UnsupportedByUpstreamError(param, value, model.name)
    if kind is not Kind.OPENAI:
        _check_diffusion(request, model, kind)
    sampling = request.sampling
    if not 0 <= sampling.temperature <= HIGHEST_TEMPERATURE:
        raise InvalidRequestError("temperature", sampling.temperature, f"0 to {HIGHEST_TEMPERATURE}", "Change it.")
    if not 0 < sampling.top_p <= 1:
        raise InvalidRequestError("top_p", sampling.top_p, "above 0, at most 1", "Change it.")
    if len(request.stop) > MOST_STOPS or "" in request.stop:
        raise InvalidRequestError("stop", request.stop, f"up to {MOST_STOPS} texts, none empty", "Send fewer.")
    if request.top_logprobs is not None and not 0 <= request.top_logprobs <= MOST_ALTERNATIVES:
        raise InvalidRequestError("top_logprobs", request.top_logprobs, f"0 to {MOST_ALTERNATIVES}", "Change it.")
    if request.max_tokens is not None and not 1 <= request.max_tokens <= model.context_length:
        raise InvalidRequestError("max_tokens", request.max_tokens, f"1 to {model.context_length}", "Change it.")


def _pulled(request: Request) -> Iterator[tuple[Lever, str, object]]:
    """Yield what a request sets of levers: which, the field's name, and its value."""
    if request.budget is not None:
        yield Lever.BUDGET, "diffusion.max_steps", request.budget.max_steps
    if request.canvas_length is not None:
        yield Lever.BUDGET, "diffusion.canvas_length", request.canvas_length
    if request.strategy != StrategyChoice():
        yield Lever.STRATEGY, "diffusion.strategy", request.strategy.name.value
    if request.exit is not None:
        yield Lever.EXIT, "exit", "an exit rule"
    if request.draft is not None:
        yield Lever.DRAFT, "draft", f"a draft of {len(request.draft.tokens)} tokens"
    if request.snapshots:
        yield Lever.SNAPSHOTS, "snapshots", request.snapshots
    if request.trace:
        yield Lever.TRACE, "trace", request.trace
    if request.top_logprobs is not None:
        yield Lever.LOGPROBS, "logprobs", request.top_logprobs


def _check_diffusion(request: Request, model: ModelInfo, kind: Kind) -> None:
    """Refuse what servers of diffusion models do, if at all, without being told of it over HTTP."""
    if request.mode is not Mode.DIFFUSION:
        raise UnsupportedByUpstreamError("mode", request.mode.value, model.name)
    if request.strategy.finality is not None or request.strategy.name.needs_model:
        raise UnsupportedByUpstreamError("diffusion.strategy", request.strategy.name.value, model.name)
    if kind is Kind.UNMASK:
        return
    _check_engine(request, model)
    if kind is Kind.SGLANG:
        _check_greedy(request.sampling, model)


def _check_engine(request: Request, model: ModelInfo) -> None:
    """Refuse budgets, canvases and drafts that an engine would refuse, or take for something else."""
    if request.budget is not None and not 1 <= request.budget.max_steps <= model.max_steps:
        raise InvalidRequestError(
            "diffusion.max_steps", request.budget.max_steps, f"1 to {model.max_steps}", "Change it."
        )
    if request.canvas_length is not None and request.canvas_length not in model.canvas_lengths:
        lengths = ", ".join(map(str, model.canvas_lengths)) or "none"
        raise InvalidRequestError("diffusion.canvas_length", request.canvas_length, lengths, "Change it.")
    if request.draft is not None:
        check_draft(request.draft, request.canvas_length or model.default_canvas_length)


def _check_greedy(sampling: Sampling, model: ModelInfo) -> None:
    """Refuse sampling, which diffusion algorithms of SGLang take without heeding it, or refuse themselves."""
    for param, value, default in (("temperature", sampling.temperature, 0), ("top_p", sampling.top_p, 1)):
        if value != default:
            raise UnsupportedByUpstreamError(param, value, model.name)


def body_of(request: Request, model: RemoteModel, max_tokens: int, allowance: Allowance | None = None) -> Json:
    """Return the JSON object of a streamed chat completion; ``allowance`` is what a vLLM is told."""
    sampling = request.sampling
    body: Json = {
        "model": model.upstream_model,
        "messages": [{"role": message.role.value, "content": message.content} for message in request.messages],
        "max_tokens": max_tokens,
        "stream": True,
    }
    if model.kind is not Kind.SGLANG:
        body |= {"temperature": sampling.temperature, "top_p": sampling.top_p, "seed": sampling.seed}
    if model.include_usage:
        body["stream_options"] = {"include_usage": True}
    if request.stop:
        body["stop"] = list(request.stop)
    if request.top_logprobs is not None:
        body |= {"logprobs": True, "top_logprobs": request.top_logprobs}
    if model.kind is Kind.UNMASK:
        # Further attempts and searches are made here, where they are reserved and booked.
        body["diffusion"] = {"max_reexpansions": 0, "search": "none", **_diffusion(request)}
        if request.session:
            body["prompt_cache_key"] = request.session
    if model.vllm is not None and allowance is not None:
        body["vllm_xargs"] = vllm_arguments(request, model.vllm, allowance)
    return body


def _diffusion(request: Request) -> Json:
    """Return what one of our own servers is told of steps: only what the request says."""
    budget, strategy = request.budget, request.strategy
    fields: Json = {
        "max_steps": budget.max_steps if budget else None,
        "max_total_steps": budget.max_total_steps if budget else None,
        "canvas_length": request.canvas_length,
        "strategy": strategy.name.value if strategy != StrategyChoice() else None,
        "threshold": strategy.threshold,
        "window": strategy.window,
    }
    return {name: value for name, value in fields.items() if value is not None}
