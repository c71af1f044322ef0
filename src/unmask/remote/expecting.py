"""What an answer may be at most, from the request and the model's description."""

from unmask.backend import MESSAGE_TOKENS, Lever, ModelInfo, Request
from unmask.remote.answer import Expected
from unmask.remote.settings import RemoteModel


def expected_of(request: Request, info: ModelInfo, settings: RemoteModel, upstream: str) -> Expected:
    """Return the bounds of an answer; no tokenizer makes more of a text than it has bytes."""
    max_tokens = request.max_tokens or info.default_max_tokens
    text = sum(len(message.content.encode("utf-8", "surrogatepass")) for message in request.messages)
    return Expected(
        upstream=upstream,
        most_bytes=settings.bounds.base_bytes + settings.bounds.bytes_per_token * max_tokens,
        event_bytes=settings.bounds.event_bytes,
        max_tokens=max_tokens,
        context_length=info.context_length,
        prompt_tokens=text + MESSAGE_TOKENS * (len(request.messages) + 1),
        steps=_most_steps(request, info, max_tokens),
        has_logprobs=request.top_logprobs is not None,
    )


def _most_steps(request: Request, info: ModelInfo, max_tokens: int) -> int | None:
    """Return the most steps of a model that takes budgets: those of each canvas, and never more than a total."""
    if Lever.BUDGET not in info.levers:
        return None
    length = request.canvas_length or info.default_canvas_length
    budget = request.budget
    steps = info.default_steps_of(request.canvas_length) if budget is None else budget.max_steps
    most = steps * -(-max_tokens // length)
    return most if budget is None or budget.max_total_steps is None else min(most, budget.max_total_steps)
