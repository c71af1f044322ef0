"""What is told of the replicas that requests for one model are spread over."""

from dataclasses import dataclass
from enum import StrEnum


class RouteReason(StrEnum):
    """Why a request went to the replica that it went to.

    ``prefix``: more of its prompt is cached there than elsewhere. ``session``: its session was there before.
    ``home``: nothing is known, and prompts that begin like it belong there. ``load``: it is less busy than the one that
    one of these speaks for. ``retry``: another one was lost, or did not take it.
    """

    PREFIX = "prefix"
    SESSION = "session"
    HOME = "home"
    LOAD = "load"
    RETRY = "retry"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaLoad:
    """One replica of a model: what it has to do, and what went there since the start.

    Attributes:
        problem: what keeps requests away from it; ``None`` while nothing does.
        running, waiting: requests that are there.
        decisions: requests that were sent there, by reason.
        prompt_tokens: of those that were answered.
        cached_tokens: prompt tokens of these that it found in its prefix cache, and so did not run.
        expected_tokens: prompt tokens of these that were believed to be there when they were sent.
    """

    name: str
    problem: str | None
    running: int
    waiting: int
    decisions: tuple[tuple[RouteReason, int], ...] = ()
    prompt_tokens: int = 0
    cached_tokens: int = 0
    expected_tokens: int = 0

    @property
    def hit_rate(self) -> float | None:
        """Share of the prompt tokens that were found in the prefix cache; ``None`` before there were any."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else None
