"""How many denoise steps a request took, estimated from counters read before and after it."""

from dataclasses import dataclass

from unmask.remote.allowance import Allowance
from unmask.remote.counters import Counters


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is known of a request beside counters.

    Attributes:
        tokens: of its answer.
        may_begin_more: whether the server may have begun a canvas behind the answer: it ends at a stop sequence, and
            that is found after the canvas was committed.
    """

    allowance: Allowance
    tokens: int
    may_begin_more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a request took.

    Attributes:
        steps: denoise steps, passes that commit not among them.
        is_alone: whether all that the counters counted is the request's own, as far as can be told.
        ignores_cap: whether that is more than it was allowed. It can be told only of one that is alone.
    """

    steps: int
    is_alone: bool
    ignores_cap: bool


def estimated(before: Counters, after: Counters, asked: Asked, *, is_alone: bool) -> Estimate | None:
    """Return what a request took between two readings; nothing where they cannot be made sense of.

    Positions that were passed over and not committed were denoised, so that passes which commit drop out. Where others
    committed tokens meanwhile, the request has the share that its tokens are of all; it is then taken to have kept to
    its cap.

    Args:
        before: read when nothing of it was sent.
        after: read when all of its answer was there.
        asked: what is known of it.
        is_alone: whether nothing else is known to have been at the server in between.
    """
    allowance = asked.allowance
    canvases = allowance.canvases(asked.tokens)
    own = float(canvases * allowance.width)
    passes = after.passes - before.passes
    committed = after.committed - before.committed
    denoised = after.positions - before.positions - committed
    # A server that started anew in between counts less; one that has not counted all of it yet, too.
    if committed < own or denoised < 0 or passes < 1 or not own:
        return None
    is_alone = is_alone and committed == own and not before.busy and not after.busy
    steps = round(denoised * own / committed / allowance.width)
    if not is_alone:
        return Estimate(steps=min(steps, allowance.steps * canvases), is_alone=False, ignores_cap=False)
    most = allowance.steps * (canvases + asked.may_begin_more)
    return Estimate(steps=steps, is_alone=True, ignores_cap=steps > most)
