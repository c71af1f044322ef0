"""The one rule by which replicas are chosen, ours and other servers alike.

What is compared is the work in front of a request, in row tokens: what is at the
replica already and may still be run, and of its own prompt what is not cached
there. A cached page is thus worth its tokens of queue and no more, so that a hot
prefix fills one replica only until running the prefix elsewhere is less work;
from then on it is cached there too. Where a replica's pages are all taken, what
is run anew pushes out as much, some of which will be asked again and has to be run
once more then: that counts as well. (The sum is that of the KV router of NVIDIA
Dynamo; with what is pushed out, and other weights, that of Preble, Srivatsa et al.,
arXiv 2407.00023.)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from unmask.routing import RouteReason

UNSEEN = 0.5
"""Share of a prompt that is taken to be cached where its session was, or where it belongs, though nothing is known:
another server may have sent its beginning there. As good a guess as any, and never more than the prompt itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A replica that would take a request.

    Attributes:
        queued: row tokens that the requests there may still come to take.
        cached: prompt tokens of the request that it is believed to hold.
        was_here: whether the request's session was there before.
        missed: tokens that will have to be run again for each one that is run anew now, as it pushes another out.
    """

    name: str
    queued: float
    cached: int = 0
    was_here: bool = False
    missed: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Where a request goes, why, and how many of its prompt tokens are believed to be there."""

    name: str
    reason: RouteReason
    cached: int = 0


def choose(candidates: Sequence[Candidate], tokens: int, home: bytes) -> Choice:
    """Return the candidate with the least work in front of a request.

    Equal ones go by rendezvous hashing (Thaler and Ravishankar, "Using Name-Based Mappings to Increase Hit Rates",
    1998), so that several routers in front of the same replicas agree without a word.

    Args:
        candidates: one at least.
        tokens: of the prompt.
        home: what prompts have in common that belong together.
    """
    belongs = _belongs(candidates, home)

    def work(one: Candidate) -> tuple[float, bool, bytes]:
        expected = max(one.cached, UNSEEN * tokens) if one is belongs else float(one.cached)
        return one.queued + (tokens - expected) * (1 + one.missed), one is not belongs, _rank(one.name, home)

    best = min(candidates, key=work)
    return Choice(name=best.name, reason=_reason(best, candidates, belongs), cached=best.cached)


def _belongs(candidates: Sequence[Candidate], home: bytes) -> Candidate:
    """Return the candidate that a request belongs to while nothing is known of its prompt."""
    before = [one for one in candidates if one.was_here]
    return max(before or candidates, key=lambda one: _rank(one.name, home))


def _reason(best: Candidate, candidates: Sequence[Candidate], belongs: Candidate) -> RouteReason:
    most = max(one.cached for one in candidates)
    if any(one.cached < most for one in candidates):
        return RouteReason.PREFIX if best.cached == most else RouteReason.LOAD
    if best is not belongs:
        return RouteReason.LOAD
    return RouteReason.SESSION if best.was_here else RouteReason.HOME


def _rank(name: str, home: bytes) -> bytes:
    return blake2b(name.encode(), key=home, digest_size=8).digest()
