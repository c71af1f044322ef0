"""What ``sched`` asks of ``engine`` in one tick, and what it gets back."""

from dataclasses import dataclass
from typing import Protocol

from unmask.types import Sampling, StrategyChoice


@dataclass(frozen=True, slots=True, kw_only=True)
class CanvasTask:
    """One denoise step of one canvas.

    Attributes:
        tokens: ids, the mask id where open.
        asked: positions whose logits are wanted: the open ones, or all of them when traced.
        index: number of the canvas in its request, from 0.
        step: steps the canvas has taken, from 0.
        steps_left: steps it may take, this one included; with 1 everything open is filled.
        limit: positions that may become output; those past it are never waited for.
        frozen: positions no strategy may reopen.
        state: what the strategy returned last time.
        trace: whether draft and signals are wanted.
    """

    tokens: tuple[int, ...]
    asked: tuple[int, ...]
    index: int
    step: int
    steps_left: int
    limit: int
    frozen: frozenset[int]
    strategy: StrategyChoice
    sampling: Sampling
    state: object
    trace: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeTask:
    """Draw the token that follows the appended ones; ``index`` counts output tokens."""

    index: int
    sampling: Sampling


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One sequence's part of a forward: tokens to append at ``start``, then a canvas or a token to draw.

    ``pages`` cover ``start + len(append) + canvas`` positions.
    """

    sequence: int
    start: int
    append: tuple[int, ...]
    pages: tuple[int, ...]
    task: CanvasTask | DecodeTask | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The rows of one forward; ``idle`` ones are computed and nothing is done with them (see lockstep)."""

    rows: tuple[Row, ...]
    idle: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    """Draft and signals of one step, a value per canvas position.

    Attributes:
        draft: the canvas as it would be if the step were its last.
        fixed: which of it is decided.
        confidence: probability of the token the network would put there.
        entropy: of the network's distribution there, in nats.
    """

    draft: tuple[int, ...]
    fixed: tuple[bool, ...]
    confidence: tuple[float, ...]
    entropy: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CanvasResult:
    """A canvas after a step; a ``finished`` one holds no mask, and finished early if it ``converged``."""

    tokens: tuple[int, ...]
    finished: bool
    converged: bool
    state: object
    record: StepRecord | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenResult:
    """A token drawn autoregressively."""

    token: int


RowResult = CanvasResult | TokenResult | None


class PlanRunner(Protocol):
    """What runs a plan: the engine, or a stand-in."""

    def run(self, plan: Plan) -> tuple[RowResult, ...]:
        """Run one forward and return one result per row: ``None`` where the row has no task."""
        ...
