"""What serves a request: the protocol, its requests and its answers."""

from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from unmask.load import ModelLoad
from unmask.service import ClassTerms, SmallerBudget
from unmask.strategy import StrategyChoice
from unmask.types import (
    DRAFTING_LENGTH,
    ApproximateKv,
    Bucket,
    Draft,
    DraftCheck,
    ExitPlan,
    ExitReason,
    FinishReason,
    Message,
    Mode,
    Outcome,
    Precision,
    ProgressSignal,
    Sampling,
    StepBudget,
    StepTrace,
)


class Lever(StrEnum):
    """What a request may set beside its text and sampling; each stands for the field, or fields, of `Request`.

    ``budget``: ``budget``, ``canvas_length`` and ``smaller``; ``exit``: ``exit`` and ``complete``; ``logprobs``:
    ``top_logprobs``. A model without a lever
    refuses requests that pull it.
    """

    BUDGET = "budget"
    STRATEGY = "strategy"
    EXIT = "exit"
    DRAFT = "draft"
    SNAPSHOTS = "snapshots"
    TRACE = "trace"
    LOGPROBS = "logprobs"
    MODE = "mode"


ALL_LEVERS = tuple(Lever)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """What a client may ask of a model, and what answers: which weights, in which precision.

    Attributes:
        digest: of the weights, and of an approximate cache where they are run with one; of a server that does not tell
            them, of what it is asked for.
        parameters: how many; ``None`` where a server does not say.
        precision: of its products, unless a request names another; ``None`` where a server does not say.
        precisions: those that a request may name; empty where it cannot.
        canvas_lengths: what a request may choose among; empty where it cannot choose.
        default_canvas_length: 1 of a model that writes token by token: each token is a canvas of one step.
        levers: what requests may set.
        on_grid: whether canvases end at multiples of their length, counted from the start of the context, so that the
            first may be shorter.
        reads_whole: whether each step runs the whole sequence, but for what is kept approximately.
        is_deterministic: whether the same request at temperature 0, or with the same seed, is answered alike every
            time, whatever runs beside it.
        template_tokens: of the prompt of one empty message: what its chat template adds to any chat.
        approximate: which keys and values it keeps approximately; ``None`` where a server does not say.
    """

    name: str
    digest: str
    parameters: int | None
    precision: Precision | None
    context_length: int
    canvas_lengths: tuple[int, ...]
    default_canvas_length: int
    max_steps: int
    default_steps: int
    default_max_tokens: int
    tasks: tuple[str, ...]
    levers: tuple[Lever, ...] = ALL_LEVERS
    precisions: tuple[Precision, ...] = ()
    on_grid: bool = False
    reads_whole: bool = False
    is_deterministic: bool = False
    template_tokens: int = 0
    approximate: ApproximateKv | None = None

    def canvases_of(self, tokens: int, canvas_length: int) -> int:
        """Return the most canvases that so many tokens come to."""
        return -(-tokens // canvas_length) + self.on_grid

    def default_steps_of(self, canvas_length: int | None) -> int:
        """Return the steps of a canvas that are taken unless asked otherwise: never more than it has positions."""
        return min(self.default_steps, canvas_length or self.default_canvas_length)

    def default_canvas_of(self, mode: Mode) -> int:
        """Return the canvas length that is taken unless asked otherwise: canvases that only draft are shorter."""
        if mode is not Mode.SPECULATIVE:
            return self.default_canvas_length
        short = [length for length in self.canvas_lengths if length <= DRAFTING_LENGTH]
        return max(short, default=self.default_canvas_length)


MESSAGE_TOKENS = 8
"""Most tokens around a message's text, and at the end of a chat: roles and marks."""
MOST_STOPS = 4
MOST_ALTERNATIVES = 20
HIGHEST_TEMPERATURE = 2.0
"""Limits of a `Request` whatever model it asks; each is where the OpenAI API has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One generation to be served; validated by whoever made it, and again by the backend.

    Attributes:
        tenant: whose prefix cache the prompt may use; pages are never shared across tenants.
        session: what its client calls the conversation that it belongs to; its turns go to one replica if they can.
        draft: start of the first canvas instead of masks.
        snapshots: whether `Backend.stream` yields a `StepEvent` after every step.
        trace: whether the result carries a `StepTrace` for every step.
        top_logprobs: how many alternatives the log-probability of each output token comes with;
            ``None`` asks for no log-probabilities at all.
        exit: when its canvases may stop before their budget is spent; ``None`` lets them run to their end.
        complete: tells of the beginning of an answer, up to the end of a sentence, that nothing is wanting: there the
            answer ends. ``None`` lets it go on to its end token.
        check: what an exit rule's format condition asks of a draft; a rule with that condition is never met without.
        terms: what its service class has of the machine.
        bucket: tier of its budget.
        smaller: budgets that it may be given instead where its own would be too late, largest first.
        precision: what it is run in, one of the model's ``precisions``; ``None`` is the model's own.
        arrived: when it did, on the engine's clock, where that was before now: a further attempt keeps its place.
        left: told what it took, where whoever asked went away before it had ended: once it takes no more steps, and
            before the call returns. It is not called where that cannot be told, and never without an abort.
    """

    model: str
    messages: tuple[Message, ...]
    max_tokens: int | None = None
    budget: StepBudget | None = None
    canvas_length: int | None = None
    strategy: StrategyChoice = StrategyChoice()
    sampling: Sampling = Sampling()
    stop: tuple[str, ...] = ()
    mode: Mode = Mode.DIFFUSION
    tenant: str = ""
    session: str = ""
    draft: Draft | None = None
    snapshots: bool = False
    trace: bool = False
    top_logprobs: int | None = None
    exit: ExitPlan | None = None
    check: DraftCheck | None = None
    complete: DraftCheck | None = None
    terms: ClassTerms = ClassTerms()
    bucket: Bucket | None = None
    smaller: tuple[SmallerBudget, ...] = ()
    precision: Precision | None = None
    arrived: float | None = None
    left: "Callable[[Generation], None] | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a request cost. Steps are denoise steps (decode steps when autoregressive) and nothing else.

    A speculative step verifies a draft and drafts on: it counts once, as it is one forward.

    Attributes:
        drafted: tokens of drafts that were verified; 0 in modes that do not draft.
        accepted: those of them that became output.
        steps_known: whether whoever served it says how many steps it took. Where not, and where they are not
            estimated either, ``steps_used`` is 0 and means nothing; so do the other numbers of steps and canvases that
            are 0.
        steps_estimated: whether ``steps_used`` is an estimate made from outside. It may then be above
            ``steps_allocated``.
        cap_ignored: whether that shows that the cap on steps was not kept.
        tokens_known: whether it says how many tokens there were. Where not, their numbers are 0 and mean nothing.
    """

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    prefill_tokens: int
    commit_tokens: int
    steps_allocated: int
    steps_used: int
    canvases: int
    exit_reason: ExitReason
    steps_known: bool = True
    steps_estimated: bool = False
    cap_ignored: bool = False
    tokens_known: bool = True
    drafted: int = 0
    accepted: int = 0

    @property
    def has_steps(self) -> bool:
        """Whether ``steps_used`` is a number of steps, known or estimated."""
        return self.steps_known or self.steps_estimated

    @property
    def most_steps(self) -> int:
        """Steps that it took; where nobody knows, the most that it may have taken."""
        return self.steps_used if self.has_steps else self.steps_allocated

    @property
    def accepted_per_step(self) -> float:
        """Drafted tokens that became output, per step."""
        return self.accepted / self.steps_used if self.steps_used else 0.0

    @property
    def tokens_per_step(self) -> float:
        """Output tokens per denoise step (TPF), the end token included by the engine's count of tokens."""
        return self.completion_tokens / self.steps_used if self.steps_used else 0.0


def are_estimated(usages: Iterable[Usage]) -> bool:
    """Tell whether the steps of several together are an estimate: each is told, some as estimates."""
    found = list(usages)
    return any(one.steps_estimated for one in found) and all(one.has_steps for one in found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Seconds on the engine's clock."""

    arrived: float
    started: float
    finished: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """A token that might stand somewhere: its bytes and log-probability in nats.

    Bytes may be a part of a character; the end token has none.
    """

    data: bytes
    logprob: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenLogprob:
    """An output token with its log-probability at the step that fixed it, and the likeliest tokens of that step.

    ``chosen.logprob`` is of the network's own distribution, before temperature and top-p. A token that was reopened
    counts as fixed by the last step to do so, one that came with a `Draft` by the first step of its canvas.
    ``top`` is sorted, likeliest first, and need not hold the chosen token.
    """

    chosen: Alternative
    top: tuple[Alternative, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitRecord:
    """Where a request's exit rule was met.

    Attributes:
        steps: denoise steps the request takes with the exit: its own, or what they would have been.
        text: its answer with the exit. Where the rule only observed, each canvas has the draft it would have stopped
            at, behind the context of the full run.
        signals: what its rule read at the step that met it, by signal; of the last canvas where several were stopped.
    """

    steps: int
    text: str
    signals: tuple[tuple[ProgressSignal, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """A finished request. ``text`` excludes end tokens and stop sequences.

    ``logprobs`` holds one entry per output token that has text, where the request asked for them: not the end token,
    nor what lies wholly inside a stop sequence; a token whose text the stop sequence cuts in two is listed whole.
    Tokens that the request's draft has before its canvas are output without log-probabilities.

    ``exit`` says where the request's exit rule was met, if it was; ``bucket`` is the tier of the budget it had.
    """

    outcome: Outcome
    finish_reason: FinishReason | None
    text: str
    tokens: tuple[int, ...]
    usage: Usage
    timing: Timing
    trace: tuple[StepTrace, ...] = ()
    logprobs: tuple[TokenLogprob, ...] = ()
    exit: ExitRecord | None = None
    error: str | None = None
    bucket: Bucket | None = None


class PieceState(StrEnum):
    """How sure a piece of a draft is: never to change, a guess, or nothing to show yet."""

    FIXED = "fixed"
    GUESSED = "guessed"
    MASKED = "masked"


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftPiece:
    """A run of canvas text of one kind: fixed, guessed, or (``text`` empty of meaning) still masked."""

    text: str
    fixed: bool

    @property
    def state(self) -> PieceState:
        """Which of the kinds it is."""
        if self.fixed:
            return PieceState.FIXED
        return PieceState.GUESSED if self.text else PieceState.MASKED


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEvent:
    """The canvas after a step: its pieces in order, one per token."""

    canvas: int
    step: int
    max_steps: int
    pieces: tuple[DraftPiece, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitEvent:
    """Text of a finished canvas; joined over a request they equal ``Generation.text``, and so do log-probabilities."""

    text: str
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DoneEvent:
    """The last event of a stream."""

    generation: Generation


Event = StepEvent | CommitEvent | DoneEvent


async def last_generation(events: AsyncGenerator[Event, None]) -> Generation:
    """Take a stream to its end and return its generation; cancelling the call closes the stream."""
    generation: Generation | None = None
    async with aclosing(events):
        async for event in events:
            if isinstance(event, DoneEvent):
                generation = event.generation
    assert generation is not None, "a stream ends with its generation"
    return generation


class Backend(Protocol):
    """Serves requests: our own engine, or a remote server."""

    def models(self) -> tuple[ModelInfo, ...]:
        """Return what is served."""
        ...

    def problems(self) -> tuple[str, ...]:
        """Say what keeps requests from being served; empty while nothing does."""
        ...

    def load(self) -> tuple[ModelLoad, ...]:
        """Return what each model has to do; at once, whatever the engines are at, and from any thread."""
        ...

    async def generate(self, request: Request) -> Generation:
        """Run a request to its end; cancelling the call aborts it within one tick.

        Raises:
            InvalidRequestError: a value is not allowed for the model.
            QueueFullError: too many requests wait.
            DrainingError: the backend is shutting down.
        """
        ...

    def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Run a request and yield its events, `DoneEvent` last; closing the iterator aborts it."""
        ...

    async def drain(self) -> None:
        """Accept nothing new, finish what runs, stop."""
        ...
