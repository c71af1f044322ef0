"""What is told of the replicas that requests for one model are spread over."""

from dataclasses import dataclass
from enum import StrEnum
from operator import add


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


class PrefillEnd(StrEnum):
    """What became of a prompt that was to be prefilled on another replica.

    In all cases but ``taken`` it is run where its answer is made. ``no_replica``: there was none to ask. ``busy``: the
    one asked refused. ``lost``: it went away. ``late``: it did not answer in time. ``model``, ``precision``,
    ``layout``, ``tokens``: the keys and values are of other weights, in another precision or form, or of another
    prompt. ``damaged``: they are not what was sent. ``no_room``: they find no pages. ``failed``: anything else.
    """

    TAKEN = "taken"
    NO_REPLICA = "no_replica"
    BUSY = "busy"
    LOST = "lost"
    LATE = "late"
    MODEL = "model"
    PRECISION = "precision"
    LAYOUT = "layout"
    TOKENS = "tokens"
    DAMAGED = "damaged"
    NO_ROOM = "no_room"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefillCounts:
    """Prompts of one model that were to be prefilled on other replicas.

    Attributes:
        ends: how many, by what became of them; in the order of `PrefillEnd`.
        tokens: prompt tokens whose keys and values were taken.
        size: bytes of these.
    """

    ends: tuple[int, ...] = (0,) * len(PrefillEnd)
    tokens: int = 0
    size: int = 0

    def after(self, end: PrefillEnd, *, tokens: int = 0, size: int = 0) -> "PrefillCounts":
        """Return the counts with one more prompt."""
        return self + PrefillCounts(ends=tuple(int(one is end) for one in PrefillEnd), tokens=tokens, size=size)

    def __add__(self, other: "PrefillCounts") -> "PrefillCounts":
        """Return the counts of two replicas."""
        return PrefillCounts(
            ends=tuple(map(add, self.ends, other.ends)), tokens=self.tokens + other.tokens, size=self.size + other.size
        )
