"""What ``sched`` asks of ``engine`` in one tick, and what it gets back."""

from dataclasses import dataclass
from typing import Protocol, assert_never

from unmask.strategy import StrategyChoice
from unmask.types import ExitRule, FixedToken, Progress, ProgressSignal, Sampling, StepTrace


@dataclass(frozen=True, slots=True, kw_only=True)
class CanvasTask:
    """One denoise step of one canvas.

    Attributes:
        tokens: ids, the mask id where open.
        asked: positions whose logits are wanted: the open ones; all of them when traced, and at the first step of a
            canvas whose log-probabilities are wanted.
        index: number of the canvas in its request, from 0.
        step: steps the canvas has taken, from 0.
        steps_left: steps it may take, this one included; with 1 everything open is filled.
        limit: positions that may become output; those past it are never waited for.
        ahead: positions behind the canvas that later ones may take.
        frozen: positions no strategy may reopen.
        state: what the strategy returned last time.
        trace: whether draft and signals are wanted.
        top_logprobs: how many alternatives the log-probability of each token comes with; ``None`` wants none at all.
        signals: progress signals that are wanted, without the format.
        exit: rule by which the canvas may be offered to stop.
        earlier: what the engine remembered of the step before.
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
    top_logprobs: int | None = None
    signals: frozenset[ProgressSignal] = frozenset()
    exit: ExitRule | None = None
    earlier: object = None
    ahead: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeTask:
    """Draw the token that follows the appended ones; ``index`` counts output tokens."""

    index: int
    sampling: Sampling
    top_logprobs: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculativeTask:
    """Verify the draft at the end of the appended tokens, draw the token that follows, and draft on.

    Attributes:
        draft: tokens that were drafted; the last ones appended.
        tokens: the canvas that drafts on, all masks; empty where nothing may follow.
        index: output tokens before the draft.
        top_logprobs: how many alternatives the log-probability of each token comes with; ``None`` wants none at all.
    """

    draft: tuple[int, ...]
    tokens: tuple[int, ...]
    index: int
    top_logprobs: int | None = None


Task = CanvasTask | DecodeTask | SpeculativeTask


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One sequence's part of a forward: tokens to append at ``start``, then a canvas or a token to draw, or both.

    ``pages`` cover ``start + len(append) + canvas`` positions. ``around`` is how many tokens before what it appends and
    behind its canvas are run again with them, where a forward does not keep them for the next.
    """

    sequence: int
    start: int
    append: tuple[int, ...]
    pages: tuple[int, ...]
    task: Task | None
    around: int = 0

    @property
    def tokens(self) -> int:
        """Tokens that it brings to the forward."""
        match self.task:
            case CanvasTask() | SpeculativeTask():
                return len(self.append) + len(self.task.tokens) + self.around
            case DecodeTask() | None:
                return len(self.append)
            case _:
                assert_never(self.task)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The rows of one forward."""

    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitOffer:
    """A canvas as it is if it stops at a step that meets its exit rule, the format aside; it holds no mask.

    ``logprobs``, where asked for, are those of the result that the offer comes with, and of what it fills.
    """

    tokens: tuple[int, ...]
    logprobs: tuple[FixedToken | None, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CanvasResult:
    """A canvas after a step; a ``finished`` one holds no mask, and finished early if it ``converged`` or ``exited``.

    ``logprobs``, where asked for, has an entry per position: of what this step fixed, ``None`` elsewhere.
    ``progress`` holds the signals that were asked for; an unfinished canvas has an ``offer`` where its exit rule is
    met as far as logits tell. ``earlier`` goes into the next step. With a ``completed`` canvas the answer ends.
    """

    tokens: tuple[int, ...]
    finished: bool
    converged: bool
    state: object
    record: StepTrace | None
    logprobs: tuple[FixedToken | None, ...] = ()
    progress: Progress | None = None
    offer: ExitOffer | None = None
    exited: bool = False
    completed: bool = False
    earlier: object = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenResult:
    """A token drawn autoregressively, with its log-probability where asked for."""

    token: int
    logprobs: FixedToken | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculativeResult:
    """The tokens that autoregressive decoding would have drawn: what it accepts of a draft, and the one that follows.

    Attributes:
        tokens: at least one.
        accepted: how many of them were drafted.
        draft: what seems to follow them, not verified; empty where some of the earlier draft was rejected.
        logprobs: an entry per token, where asked for.
    """

    tokens: tuple[int, ...]
    accepted: int
    draft: tuple[int, ...]
    logprobs: tuple[FixedToken, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFailure:
    """A row whose request cannot go on; the plan's other rows are none the worse for it."""

    error: str


StepResult = CanvasResult | TokenResult | SpeculativeResult
RowResult = StepResult | RowFailure | None


class PlanRunner(Protocol):
    """What runs a plan: the engine, or a stand-in."""

    def run(self, plan: Plan) -> tuple[RowResult, ...]:
        """Run one forward and return one result per row: ``None`` where the row has no task."""
        ...
