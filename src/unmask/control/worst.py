"""The most that a request may cost: what has to be reserved for it before it runs."""

from dataclasses import dataclass
from typing import assert_never

from unmask.backend import MESSAGE_TOKENS
from unmask.control.admitted import Admitted
from unmask.types import Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Worst:
    """The most that all generations for a request take together.

    Attributes:
        steps: denoise steps.
        token_steps: canvas tokens that these forward.
        prefill_tokens: tokens of prompts and finished canvases.
    """

    steps: int
    token_steps: int
    prefill_tokens: int


def worst_of(admitted: Admitted) -> Worst:
    """Return the most that a request can take; where it may be escalated, by both models together."""
    own = _worst_alone(admitted)
    if admitted.escalation is None:
        return own
    larger = _worst_alone(admitted.escalation)
    return Worst(
        steps=_capped(admitted, own.steps + larger.steps),
        token_steps=own.token_steps + larger.token_steps,
        prefill_tokens=own.prefill_tokens + larger.prefill_tokens,
    )


def _worst_alone(admitted: Admitted) -> Worst:
    """Return the most that its own model can take of a request.

    How many tokens its prompt has is known once a backend has read it; no tokenizer makes more of a text than it has
    bytes, and no generation fills more than the context.
    """
    request, model = admitted.request, admitted.model
    steps = most_steps(admitted)
    text = sum(len(message.content.encode("utf-8", "surrogatepass")) for message in request.messages)
    marks = MESSAGE_TOKENS * (len(request.messages) + 1) + model.template_tokens
    prefill = min(model.context_length, text + marks + _committed(admitted))
    attempts = 1 + (0 if admitted.expansion is None else admitted.expansion.limit)
    return Worst(
        steps=steps,
        token_steps=steps * width_of(admitted),
        prefill_tokens=(attempts * _generations(admitted) + _searched(admitted)) * prefill,
    )


def most_steps(admitted: Admitted) -> int:
    """Return the most denoise steps that all generations for a request can take together.

    Its first attempt, every further one that its class allows, each with its budget grown, and the samples that each
    of them may be compared with; never more than the total that client or class name.
    """
    request, expansion = admitted.request, admitted.expansion
    canvases = _canvases(admitted)
    steps, total = _steps(admitted), 0
    for attempt in range(1 + (0 if expansion is None else expansion.limit)):
        if attempt and expansion is not None:
            steps = expansion.grown(steps)
        of_one = canvases * (1 if request.mode.is_causal else steps)
        total += _generations(admitted) * of_one
        if not attempt and admitted.search is not None:
            total += (admitted.search.plan.width - 1) * of_one
        if not attempt and admitted.is_paired:
            total += of_one
    return _capped(admitted, total)


def _capped(admitted: Admitted, steps: int) -> int:
    return steps if admitted.max_total_steps is None else min(steps, admitted.max_total_steps)


def width_of(admitted: Admitted) -> int:
    """Return how many tokens a step of a request forwards."""
    request, model = admitted.request, admitted.model
    canvas = request.canvas_length or model.default_canvas_of(request.mode)
    match request.mode:
        case Mode.DIFFUSION:
            return canvas
        case Mode.AUTOREGRESSIVE:
            return 1
        case Mode.SPECULATIVE:
            # The draft of the step before, and the canvas that drafts on.
            return 2 * canvas
        case _:
            assert_never(request.mode)


def _steps(admitted: Admitted) -> int:
    """Return the most steps of a canvas of the first attempt."""
    request, model = admitted.request, admitted.model
    return model.default_steps_of(request.canvas_length) if request.budget is None else request.budget.max_steps


def _canvases(admitted: Admitted) -> int:
    """Return the most canvases of a generation; where it is causal, each token counts as one."""
    tokens = _most_tokens(admitted)
    return tokens if admitted.request.mode.is_causal else admitted.model.canvases_of(tokens, width_of(admitted))


def _committed(admitted: Admitted) -> int:
    """Return the most tokens that a generation appends behind its prompt."""
    tokens = _most_tokens(admitted)
    return tokens if admitted.request.mode.is_causal else _canvases(admitted) * width_of(admitted)


def _most_tokens(admitted: Admitted) -> int:
    return admitted.request.max_tokens or admitted.model.default_max_tokens


def _searched(admitted: Admitted) -> int:
    """Return the most generations that a search, or a comparison of prompts, runs beside the first attempt."""
    if admitted.search is None:
        return int(admitted.is_paired)
    is_looked_at = admitted.check is not None and admitted.check.is_looked_at
    return admitted.search.plan.most_runs(_canvases(admitted), _steps(admitted), is_looked_at=is_looked_at) - 1


def _generations(admitted: Admitted) -> int:
    """Return the most generations of an attempt: itself and its samples."""
    return 1 + (0 if admitted.consistency is None else admitted.consistency.samples)
