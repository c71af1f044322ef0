"""What became of a request's search, as its answer and the metrics tell it."""

from dataclasses import dataclass

from unmask.control.search_choice import SearchSource
from unmask.search.reward import RewardEnd
from unmask.search.running import Limit
from unmask.service import SearchMethod


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """A search that was run.

    Attributes:
        width: how wide it was to be.
        source: who asked for it.
        limit: what kept it from going on, if anything did.
        dropped: generations that this kept from their end, or from being begun at all.
        reward: what came of asking a reward endpoint; ``None`` where none was asked.
    """

    method: SearchMethod
    width: int
    source: SearchSource
    limit: Limit | None = None
    dropped: int = 0
    reward: RewardEnd | None = None
