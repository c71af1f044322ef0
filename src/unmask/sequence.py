"""The state of one generation: the only mutable object, touched by the core's thread alone."""

from dataclasses import dataclass, field
from typing import assert_never

from unmask.service import ClassTerms, SmallerBudget
from unmask.strategy import StrategyChoice
from unmask.types import (
    ApproximateCache,
    ApproximateKv,
    Bucket,
    Draft,
    DraftCheck,
    ExitPlan,
    ExitReason,
    FinishReason,
    FixedToken,
    Mode,
    Outcome,
    Progress,
    Sampling,
    StepBudget,
    StepTrace,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """What the answer says already: tokens at the end of the prompt, their text, and bytes of a character to come."""

    tokens: tuple[int, ...] = ()
    text: str = ""
    unfinished: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A validated request in tokens. ``max_total_steps`` of the budget is set.

    ``prompt`` ends with the tokens of ``begun``; ``max_tokens`` counts those that may follow.
    ``bucket`` is the tier of its budget, ``smaller`` what it may be given instead, largest first. ``arrived`` is when
    it did, on the engine's clock, where that was before it was submitted: a further attempt keeps its place.
    With ``on_grid`` canvases end at multiples of their length, counted from the start of the context: the first may be
    shorter. With ``reads_whole`` each step runs the whole sequence, masks behind its canvas included, but for what
    ``approximate`` keeps of an earlier one. With ``max_tokens`` 0 it ends once its prompt has filled its pages; its
    mode is then an autoregressive one.
    """

    prompt: tuple[int, ...]
    max_tokens: int
    canvas_length: int
    context_length: int
    budget: StepBudget
    strategy: StrategyChoice = StrategyChoice()
    sampling: Sampling = Sampling()
    stop: tuple[str, ...] = ()
    mode: Mode = Mode.DIFFUSION
    tenant: str = ""
    draft: Draft | None = None
    begun: Begun = Begun()
    snapshots: bool = False
    trace: bool = False
    top_logprobs: int | None = None
    exit: ExitPlan | None = None
    check: DraftCheck | None = None
    complete: DraftCheck | None = None
    terms: ClassTerms = ClassTerms()
    bucket: Bucket | None = None
    smaller: tuple[SmallerBudget, ...] = ()
    arrived: float | None = None
    on_grid: bool = False
    reads_whole: bool = False
    approximate: ApproximateKv = ApproximateKv()

    @property
    def only_prefills(self) -> bool:
        """Whether its prompt is run and nothing else."""
        return not self.max_tokens

    def length_at(self, position: int) -> int:
        """Return how long a canvas is that starts at a position, as far as the context has room."""
        return self.canvas_length - (position % self.canvas_length if self.on_grid else 0)

    @property
    def most_tokens(self) -> int:
        """Row tokens that it may come to take: its prompt, what every step runs, and what is committed in between."""
        steps = self.budget.max_total_steps or 0
        match self.mode:
            case Mode.DIFFUSION:
                return self.max_length + self._most_denoised(steps)
            case Mode.AUTOREGRESSIVE:
                return len(self.prompt) + steps
            case Mode.SPECULATIVE:
                # A step verifies what the canvas of the one before has drafted, and drafts on.
                return len(self.prompt) + steps * 2 * self.canvas_length
            case _:
                assert_never(self.mode)

    def _most_denoised(self, steps: int) -> int:
        """Return the most tokens that so many denoise steps run."""
        if not self.reads_whole:
            return steps * self.canvas_length
        fresh = self.approximate.most_fresh(steps, self.max_canvases)
        is_dual = self.approximate.cache is ApproximateCache.DUAL
        others = self.canvas_length if is_dual else self.max_length - len(self.prompt)
        return fresh * self.max_length + (steps - fresh) * others

    @property
    def max_canvases(self) -> int:
        """Canvases that ``max_tokens`` allows."""
        left = self.max_tokens - self.length_at(len(self.prompt))
        return 1 + max(0, -(-left // self.canvas_length))

    @property
    def max_length(self) -> int:
        """Context positions the request may come to hold."""
        if self.mode.is_causal:
            return len(self.prompt) + self.max_tokens
        first = self.length_at(len(self.prompt))
        longest = len(self.prompt) + first + (self.max_canvases - 1) * self.canvas_length
        return min(longest, self.context_length)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedExit:
    """Where a canvas would have stopped: steps it had taken, its tokens there, and what the rule read."""

    steps: int
    tokens: tuple[int, ...]
    progress: Progress | None = None


@dataclass(slots=True, kw_only=True)
class Canvas:
    """The open canvas: ids (mask ids where open), steps taken, and what its strategy remembers.

    ``limit`` is how many of its positions may become output; ``logprobs``, where asked for, has an entry per
    position: what the last step to fix it has said. ``earlier`` is what the engine remembers of the step before,
    ``streak`` how many steps in a row have met the exit rule, ``noted`` where a control run would have stopped;
    ``read`` tokens from its start were looked at for an answer that is complete.
    """

    tokens: tuple[int, ...]
    limit: int
    max_steps: int
    steps: int = 0
    frozen: frozenset[int] = frozenset()
    state: object = None
    logprobs: tuple[FixedToken | None, ...] = ()
    earlier: object = None
    streak: int = 0
    read: int = 0
    noted: NotedExit | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputToken:
    """An output token with its log-probability; its text begins at character ``start`` of the output's."""

    start: int
    fixed: FixedToken


@dataclass(slots=True, kw_only=True)
class Sequence:
    """One generation from submission to its outcome.

    ``text`` is made of whole characters; bytes of one whose end is not there yet wait in ``unfinished``.
    ``logprobs``, where asked for, has an entry per output token that stands for bytes of text.
    ``exited`` tells whether an exit rule has stopped a canvas, ``met`` what it read at the last one. ``control`` is,
    in a control run whose rule was met, the request as it would be with its exits; of it only steps, output and text
    count. ``owed`` are the row tokens that it may still come to take; ``kept_tokens`` those of its canvases that became
    output, once for each step. ``draft`` are the last of the pending tokens, where they are drafted and not verified;
    ``drafted`` counts all that were looked at, ``accepted`` those of them that became output.
    """

    id: int
    submission: Submission
    arrived: float
    pages: list[int] = field(default_factory=list)
    committed: int = 0
    pending: tuple[int, ...] = ()
    draft: tuple[int, ...] = ()
    canvas: Canvas | None = None
    output: list[int] = field(default_factory=list)
    hashed_pages: int = 0
    page_hash: bytes = b""
    started: float | None = None
    finished: float | None = None
    cached_tokens: int = 0
    prefill_tokens: int = 0
    commit_tokens: int = 0
    steps: int = 0
    canvases: int = 0
    drafted: int = 0
    accepted: int = 0
    owed: int = 0
    kept_tokens: int = 0
    abort_requested: bool = False
    outcome: Outcome | None = None
    finish_reason: FinishReason | None = None
    exit_reason: ExitReason | None = None
    text: str = ""
    unfinished: bytes = b""
    logprobs: list[OutputToken] = field(default_factory=list)
    error: str | None = None
    last_step: StepTrace | None = None
    trace: list[StepTrace] = field(default_factory=list)
    exited: bool = False
    met: Progress | None = None
    control: "Sequence | None" = None

    @property
    def steps_left(self) -> int:
        """Steps the request may still take in all."""
        total = self.submission.budget.max_total_steps
        assert total is not None, "a submission carries a total"
        return total - self.steps

    @property
    def tokens(self) -> tuple[int, ...]:
        """Prompt and output so far; the first ``committed`` of them have KV in pages."""
        return self.submission.prompt + tuple(self.output)
