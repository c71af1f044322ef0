"""What a search comes to."""

from dataclasses import dataclass

from unmask.backend import Generation
from unmask.search.reward import RewardEnd
from unmask.search.running import Limit
from unmask.search.score import Scored


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The answer of a search and all that it took.

    Attributes:
        best: the best answer seen.
        answers: all whole answers, in the order they were begun, with their scores.
        generations: everything that ran, parts of answers and aborted ones included: what a ledger books.
        steps: denoise steps of all of these, and the most that those may have taken of which nobody knows.
        limit: what kept the search from going on, if anything did.
        dropped: generations that this kept from their end, or from being begun at all.
        reward: what came of asking a reward endpoint; ``None`` where none was asked.
        notes: what went wrong without ending the search, and what was left out.
    """

    best: Scored
    answers: tuple[Scored, ...]
    generations: tuple[Generation, ...]
    steps: int
    limit: Limit | None = None
    dropped: int = 0
    reward: RewardEnd | None = None
    notes: tuple[str, ...] = ()
