"""The random stratum of a review: which answers people read whatever they were marked.

Failed and borderline answers show what is wrong with a judge, and say nothing of how often: every answer among them
was picked by the judge itself. How often it is wrong can be told from answers that chance picked, each with a
probability that is known (Horvitz and Thompson, JASA 1952).
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from unmask.gate.response import ResponseKey
from unmask.gate.review_errors import ReviewError


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditDraw:
    """How the random stratum of a run was drawn; who has the run can draw it again.

    Attributes:
        seed: fixed by the first draw of a run, so that nobody draws again until the answers look good.
        n: answers drawn.
        of: answers that there were.
        who: asked for it.
        when: in UTC, as ISO 8601 writes it.
    """

    seed: int
    n: int
    of: int
    who: str
    when: str

    @property
    def probability(self) -> float:
        """With which each answer of the run was drawn."""
        return self.n / self.of


def drawn(answers: Iterable[ResponseKey], seed: int, n: int) -> tuple[ResponseKey, ...]:
    """Return ``n`` answers drawn uniformly without replacement, in an order that is random too.

    Each answer has a place that its name and the seed alone decide, and those with the first places are drawn: a
    larger draw holds every smaller one, and what was reviewed stays of use.
    """
    return tuple(sorted(answers, key=lambda key: (_place(key, seed), key))[:n])


def next_draw(earlier: AuditDraw | None, *, n: int, of: int, seed: int | None, who: str, when: str) -> AuditDraw | None:
    """Return a draw that goes on from an earlier one; ``None`` where that holds as many already.

    Raises:
        ReviewError: there are not so many answers, fewer are wanted than were drawn, or with another seed.
    """
    if not 1 <= n <= of:
        raise ReviewError(f"--audit is {n}, allowed: 1 to {of}, the answers of the run", param="audit")
    if earlier is None:
        return AuditDraw(seed=seed or 0, n=n, of=of, who=who, when=when)
    if seed is not None and seed != earlier.seed:
        raise ReviewError(
            f"--audit-seed is {seed}, allowed: {earlier.seed}, as in the first draw: answers that are drawn again "
            "until they look good are no random ones. Leave it out",
            param="audit_seed",
        )
    if n < earlier.n:
        raise ReviewError(
            f"--audit is {n}, allowed: from {earlier.n}, which are drawn already: whoever leaves some out by what was "
            "said of them has no random ones",
            param="audit",
        )
    if (n, of) == (earlier.n, earlier.of):
        return None
    return AuditDraw(seed=earlier.seed, n=n, of=of, who=who, when=when)


def audited(draw: AuditDraw | None, answers: Sequence[ResponseKey]) -> dict[ResponseKey, float]:
    """Return the probability of every answer in the random stratum; answers that came after the draw have none.

    Raises:
        ReviewError: the run has another number of answers than when it was drawn from.
    """
    if draw is None:
        return {}
    if draw.of != len(answers):
        raise ReviewError(
            f"the audit was drawn from {draw.of} answers and the run has {len(answers)}, allowed: the same number. "
            "Draw again with --audit once the run is complete",
            param="audit",
        )
    return dict.fromkeys(drawn(answers, draw.seed, draw.n), draw.probability)


def _place(key: ResponseKey, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}\n{key.scenario}\n{key.seed}\n{key.system}".encode()).digest()
