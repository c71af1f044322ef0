"""The most that a request may cost: what has to be reserved for it before it runs."""

from unmask.control.admitted import Admitted
from unmask.types import Mode


def most_steps(admitted: Admitted) -> int:
    """Return the most denoise steps that all generations for a request can take together.

    Its first attempt, every further one that its class allows, each with its budget grown, and the samples that each
    of them may be compared with; never more than the total that client or class name.
    """
    request, model, expansion = admitted.request, admitted.model, admitted.expansion
    length = request.canvas_length or model.default_canvas_length
    tokens = request.max_tokens or model.default_max_tokens
    canvases = tokens if request.mode is Mode.AUTOREGRESSIVE else -(-tokens // length)
    steps = model.default_steps_of(request.canvas_length) if request.budget is None else request.budget.max_steps
    generations = 1 + (0 if admitted.consistency is None else admitted.consistency.samples)
    total = 0
    for attempt in range(1 + (0 if expansion is None else expansion.limit)):
        if attempt and expansion is not None:
            steps = expansion.grown(steps)
        of_one = canvases * (1 if request.mode is Mode.AUTOREGRESSIVE else steps)
        total += generations * of_one
    return total if admitted.max_total_steps is None else min(total, admitted.max_total_steps)
