"""Speculative decoding with one set of weights: a canvas drafts, and the causal pass of the next step verifies.

After speculative decoding (Leviathan et al. 2023, arXiv 2211.17192) at temperature 0, with the drafter of DiffuSpec
(arXiv 2510.02358): a diffusion model drafts several tokens in one step. Here drafter and verifier are the same weights,
and one forward does both: the draft is appended causally, and the canvas behind it drafts on as if all of it were
accepted. Where some is not, the next step drafts anew, and verifies nothing.
"""

from torch import Tensor

from unmask.engine.logprobs import fixed_tokens
from unmask.engine.signals import Signals
from unmask.plan import SpeculativeResult, SpeculativeTask

LEAST_LOG_ODDS = -0.7
"""A draft ends before the first token that is less sure, a third or so: what is rejected costs a step that only drafts.

For canvases of 8 positions it makes no difference to `tiny`; of longer ones it keeps what is not worth verifying.
"""


def speculated(task: SpeculativeTask, signals: Signals, logits: Tensor, end: int) -> SpeculativeResult:
    """Accept of a draft what autoregressive decoding would have drawn, and draft on.

    Args:
        task: with the draft.
        signals: of the token before the draft, the draft's, and the canvas's positions.
        logits: of the same, ``[positions, vocabulary]``.
        end: behind this token nothing is drafted.
    """
    count = len(task.draft)
    drawn = tuple(signals.tokens[: count + 1].tolist())
    accepted = next((place for place, token in enumerate(task.draft) if token != drawn[place]), count)
    tokens = drawn[: accepted + 1]
    logprobs = (
        ()
        if task.top_logprobs is None
        else tuple(fixed_tokens(logits[: accepted + 1], signals.tokens[: accepted + 1], task.top_logprobs))
    )
    # Behind a token that was rejected the canvas has drafted on from what is not there.
    draft = _draft(signals, count + 1, end) if accepted == count and end not in tokens else ()
    return SpeculativeResult(tokens=tokens, accepted=accepted, draft=draft, logprobs=logprobs)


def _draft(signals: Signals, first: int, end: int) -> tuple[int, ...]:
    """Return what the canvas from ``first`` on is sure of, from its second position up to the end token.

    The first position is that of the token just drawn.
    """
    draft: list[int] = []
    pairs = zip(signals.tokens[first + 1 :].tolist(), signals.confidence[first + 1 :].tolist(), strict=True)
    for token, confidence in pairs:
        if confidence < LEAST_LOG_ODDS:
            break
        draft.append(token)
        if token == end:
            break
    return tuple(draft)
