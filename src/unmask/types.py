"""Frozen values and enums shared by every layer; no I/O."""

from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import blake2b
from typing import Protocol

SEED_BYTES = 8


class Role(StrEnum):
    """Who speaks in a chat message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One chat message: plain text, never special tokens."""

    role: Role
    content: str


class Mode(StrEnum):
    """How the weights are run: canvases denoised; one token after the other; or so, but with a canvas that drafts.

    ``speculative`` gives the answer of ``autoregressive`` in fewer steps.
    """

    DIFFUSION = "diffusion"
    AUTOREGRESSIVE = "autoregressive"
    SPECULATIVE = "speculative"

    @property
    def is_causal(self) -> bool:
        """Whether each token of the answer is drawn from those before it."""
        return self is not Mode.DIFFUSION


class Precision(StrEnum):
    """The type of numbers that a model's weights are kept and multiplied in.

    With whole numbers attention and pages are in bfloat16. ``int8``: products are of whole numbers too. ``int4``:
    weights alone, which saves memory and nothing else.
    """

    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"
    INT8 = "int8"
    INT4 = "int4"


class Device(StrEnum):
    """Where a checkpoint runs; ``auto``: on a CUDA device where there is one."""

    AUTO = "auto"
    CPU = "cpu"
    CUDA = "cuda"


class ApproximateCache(StrEnum):
    """Which keys and values a canvas's later steps take from an earlier one, where all positions see all.

    ``prefix``: those of what stands before the canvas. ``dual``: those of the masks behind it too. ``off``: none.
    """

    OFF = "off"
    PREFIX = "prefix"
    DUAL = "dual"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproximateKv:
    """How keys and values are kept that a step would change a little (Fast-dLLM, arXiv 2505.22618).

    Attributes:
        cache: which of them.
        refresh: steps of a canvas after which all are computed anew; ``None``: at its first step alone.
    """

    cache: ApproximateCache = ApproximateCache.OFF
    refresh: int | None = None

    @property
    def is_on(self) -> bool:
        """Whether any are kept."""
        return self.cache is not ApproximateCache.OFF

    def is_fresh(self, step: int) -> bool:
        """Tell whether a canvas's step, counted from 0, computes all of them."""
        return not self.is_on or step == 0 or (self.refresh is not None and step % self.refresh == 0)

    def most_fresh(self, steps: int, canvases: int) -> int:
        """Return the most of so many steps, of so many canvases together, that compute all of them."""
        if not self.is_on:
            return steps
        return min(steps, canvases + (0 if self.refresh is None else steps // self.refresh))


DRAFTING_LENGTH = 8
"""Longest canvas that drafts, unless a request asks for a longer one: of what is further ahead little is accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepBudget:
    """Hard caps on denoise steps: per canvas, and per request (``None``: per canvas × canvases)."""

    max_steps: int
    max_total_steps: int | None = None


class Bucket(StrEnum):
    """One of the budget tiers, smallest first; which ``max_steps`` it stands for is a matter of model and policy."""

    XS = "XS"
    S = "S"
    M = "M"
    L = "L"
    XL = "XL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How a token is drawn from the network's distribution; temperature 0 takes the likeliest."""

    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0

    def reseeded(self, number: int, *, use: bytes = b"") -> "Sampling":
        """Return how tokens are drawn in another generation of the same request; at temperature 0 seeds have no part.

        Its seed is the first 8 bytes of BLAKE2b over seed and number, each as 8 bytes, big-endian and signed, so that
        the same request has the same generations, and neighbouring seeds share none, as they would by counting up.

        Args:
            number: which generation.
            use: what it is for, in 16 bytes at most: no two uses have the same seeds.
        """
        parts = (part.to_bytes(SEED_BYTES, "big", signed=True) for part in (self.seed, number))
        digest = blake2b(b"".join(parts), digest_size=SEED_BYTES, person=use).digest()
        return replace(self, seed=int.from_bytes(digest, "big", signed=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A start for the first canvas: an id or ``None`` (open) per position, and the positions never reopened.

    ``before`` are tokens that the answer has before that canvas, and that stand as they are: what earlier canvases of
    an earlier attempt ended with. They count as output, and are read like a prompt rather than denoised.
    """

    tokens: tuple[int | None, ...]
    frozen: frozenset[int] = frozenset()
    before: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredToken:
    """A token id and its log-probability in nats."""

    token: int
    logprob: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedToken:
    """A token as seen by the step that fixed it, with the likeliest tokens of that step, likeliest first.

    Log-probabilities are of the network's own distribution over the tokens that
    may be drawn, before temperature and top-p.
    """

    chosen: ScoredToken
    top: tuple[ScoredToken, ...] = ()


class SignalKind(StrEnum):
    """What a progress signal looks at. An exit rule combines at least two kinds: none of them alone means quality."""

    CHANGE = "change"
    CONFIDENCE = "confidence"
    FORMAT = "format"


class ProgressSignal(StrEnum):
    """A signal that a denoise step gives of its canvas, over the positions that an exit would fill.

    These are the positions up to the draft's first end token that the step leaves open. One that it has reopened is not
    among them: an exit gives it its token back.

    ``flips``: share of them whose draft token is another than a step before. ``kl``: mean divergence of their
    distributions from those of the step before, in nats, over those open then too. ``confidence_p10``,
    ``confidence_mean``, ``confidence_min``: of the probabilities of their draft tokens. ``gap``: least lead of the
    likeliest logit over the next. ``entropy``: mean, in nats. ``format``: whether the draft's text passes the request's
    serving-time verifier.
    """

    FLIPS = "flips"
    KL = "kl"
    CONFIDENCE_P10 = "confidence_p10"
    CONFIDENCE_MEAN = "confidence_mean"
    CONFIDENCE_MIN = "confidence_min"
    GAP = "gap"
    ENTROPY = "entropy"
    FORMAT = "format"

    @property
    def kind(self) -> SignalKind:
        """What it looks at."""
        if self in {ProgressSignal.FLIPS, ProgressSignal.KL}:
            return SignalKind.CHANGE
        return SignalKind.FORMAT if self is ProgressSignal.FORMAT else SignalKind.CONFIDENCE

    @property
    def is_small_when_done(self) -> bool:
        """Whether a canvas that has settled shows a small value: a condition then sets the largest one."""
        return self in {ProgressSignal.FLIPS, ProgressSignal.KL, ProgressSignal.ENTROPY}


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress signals of one step of a canvas.

    Attributes:
        filled: positions that an exit at this step would fill, the end token's among them. Without any, no signal
            has a value: a canvas that stops there stops anyway.
        values: the signals that were asked for. ``None`` where a signal cannot be told: that of a change at a canvas's
            first step, or where no position was open a step before; the format where it is not judged.
    """

    filled: int
    values: tuple[tuple[ProgressSignal, float | None], ...] = ()

    def __getitem__(self, signal: ProgressSignal) -> float | None:
        return next((value for found, value in self.values if found is signal), None)

    def replaced(self, signal: ProgressSignal, value: float | None) -> "Progress":
        """Return the same with another value of one signal."""
        others = tuple(pair for pair in self.values if pair[0] is not signal)
        return Progress(filled=self.filled, values=(*others, (signal, value)))


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTrace:
    """One denoise step of a canvas: its draft and signals, a value per canvas position.

    Attributes:
        canvas: number of the canvas in its request, from 0.
        step: number of the step in its canvas, from 0.
        max_steps: steps the canvas may take.
        draft: the canvas as it would be if the step were its last.
        fixed: which of it is decided.
        confidence: probability of the token the network would put there.
        entropy: of the network's distribution there, in nats.
        progress: all progress signals, as exit rules read them; ``None`` where only a snapshot was asked for.
        data: bytes that the draft would add to a traced answer, up to its first end token and ``max_tokens``.
        ends: whether the answer would end with them, stop sequences aside.
    """

    canvas: int
    step: int
    max_steps: int
    draft: tuple[int, ...]
    fixed: tuple[bool, ...]
    confidence: tuple[float, ...]
    entropy: tuple[float, ...]
    progress: Progress | None = None
    data: bytes = b""
    ends: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitCondition:
    """A bound on one signal: the largest value of those small when done, the least of others (both inclusive).

    The bound of ``format`` is 1: the draft passes.
    """

    signal: ProgressSignal
    bound: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedExit:
    """A logistic score of signals, the probability that stopping here costs nothing; met from ``threshold`` on.

    Attributes:
        version: digest of what was learnt; apart from the model's.
        bias: log-odds where every signal is 0.
        weights: log-odds per unit of each signal read, after `unmask.policy.exit_rule.transformed`.
        threshold: least probability to stop at.
    """

    version: str
    bias: float
    weights: tuple[tuple[ProgressSignal, float], ...]
    threshold: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitRule:
    """When a canvas may stop before its budget is spent: all conditions, and the learned score if there is one.

    Attributes:
        patience: how many steps in a row must meet it.
        min_steps: fewest steps of a canvas.
    """

    conditions: tuple[ExitCondition, ...] = ()
    learned: LearnedExit | None = None
    patience: int = 1
    min_steps: int = 1

    @property
    def signals(self) -> frozenset[ProgressSignal]:
        """Signals that it reads."""
        learned = () if self.learned is None else (signal for signal, _ in self.learned.weights)
        return frozenset((*(condition.signal for condition in self.conditions), *learned))

    @property
    def kinds(self) -> frozenset[SignalKind]:
        """Kinds of the signals that it reads."""
        return frozenset(signal.kind for signal in self.signals)


class ExitAction(StrEnum):
    """What happens where an exit rule is met: the canvas stops, or (control runs) it is noted and goes on."""

    STOP = "stop"
    OBSERVE = "observe"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitPlan:
    """An exit rule as it applies to one request."""

    rule: ExitRule
    action: ExitAction = ExitAction.STOP


class DraftCheck(Protocol):
    """A serving-time verifier: tells from the request alone whether a text may be its answer; never raises."""

    def __call__(self, text: str) -> bool:
        """Judge a whole answer."""
        ...


class FinishReason(StrEnum):
    """Why a text ends, in the words of the OpenAI API."""

    STOP = "stop"
    LENGTH = "length"


class Outcome(StrEnum):
    """How a request ended; exactly one per request."""

    COMPLETED = "completed"
    ABORTED = "aborted"
    FAILED = "failed"


class ExitReason(StrEnum):
    """Why denoising stopped: the last canvas converged, a cap was reached, or the request was ended.

    Autoregressive text converges at its end; cut by ``max_tokens`` it has taken all its steps. ``early_exit``: an
    exit rule stopped the last canvas. ``complete``: its task type's verifier found that nothing is wanting.
    """

    CONVERGED = "converged"
    EARLY_EXIT = "early_exit"
    COMPLETE = "complete"
    MAX_STEPS = "max_steps"
    MAX_TOTAL_STEPS = "max_total_steps"
    ABORTED = "aborted"
    FAILED = "failed"


class Verification(StrEnum):
    """What a verifier says of an answer; ``skipped`` where nothing was asked of it."""

    PASS = "pass"
    FAIL = "fail"
    SKIPPED = "skipped"
