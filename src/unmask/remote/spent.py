"""What an answer of a diffusion engine cost, which the engine itself does not say."""

from dataclasses import replace

from unmask.backend import Usage
from unmask.remote.allowance import Allowance
from unmask.remote.estimate import Estimate
from unmask.types import ExitReason


def spent_of(usage: Usage, allowance: Allowance, estimate: Estimate | None) -> Usage:
    """Return a usage with what it was allowed, and what it took if there is an estimate.

    That its cap ended it is said only where every canvas took all of it. An answer without a number of tokens has no
    number of canvases either.
    """
    if usage.steps_known:
        return usage
    if not usage.tokens_known:
        return replace(usage, exit_reason=ExitReason.CONVERGED)
    canvases = allowance.canvases(usage.completion_tokens)
    allowed = canvases * allowance.steps
    usage = replace(usage, steps_allocated=allowed, canvases=canvases, exit_reason=ExitReason.CONVERGED)
    if estimate is None:
        return usage
    is_capped = estimate.is_alone and allowed and estimate.steps >= allowed and not estimate.ignores_cap
    return replace(
        usage,
        steps_used=estimate.steps,
        steps_estimated=True,
        cap_ignored=estimate.ignores_cap,
        exit_reason=ExitReason.MAX_STEPS if is_capped else ExitReason.CONVERGED,
    )
