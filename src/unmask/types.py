"""Frozen values and enums shared by every layer; no I/O."""

from dataclasses import dataclass
from enum import StrEnum


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
    """How the weights are run: canvases denoised, or one token after the other."""

    DIFFUSION = "diffusion"
    AUTOREGRESSIVE = "autoregressive"


class Precision(StrEnum):
    """The type of numbers that a model's products, attention and pages are in."""

    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"


class StrategyName(StrEnum):
    """Which positions a denoise step reveals; each is described where it is implemented."""

    LOW_CONFIDENCE = "low_confidence"
    CONFIDENCE_THRESHOLD = "confidence_threshold"
    ENTROPY_BOUND = "entropy_bound"
    KLASS = "klass"
    PROPHET = "prophet"
    REMASK = "remask"

    @property
    def has_bounded_threshold(self) -> bool:
        """Whether the threshold is a probability; that of the others is in nats and has no upper end."""
        return self not in {StrategyName.ENTROPY_BOUND, StrategyName.PROPHET}


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyChoice:
    """A strategy and its threshold; ``None`` is the strategy's own default."""

    name: StrategyName = StrategyName.LOW_CONFIDENCE
    threshold: float | None = None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A start for the first canvas: an id or ``None`` (open) per position, and the positions never reopened."""

    tokens: tuple[int | None, ...]
    frozen: frozenset[int] = frozenset()


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
    """

    canvas: int
    step: int
    max_steps: int
    draft: tuple[int, ...]
    fixed: tuple[bool, ...]
    confidence: tuple[float, ...]
    entropy: tuple[float, ...]


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

    Autoregressive text converges at its end; cut by ``max_tokens`` it has taken all its steps.
    """

    CONVERGED = "converged"
    MAX_STEPS = "max_steps"
    MAX_TOTAL_STEPS = "max_total_steps"
    ABORTED = "aborted"
    FAILED = "failed"


class Verification(StrEnum):
    """What a verifier says of an answer; ``skipped`` where nothing was asked of it."""

    PASS = "pass"
    FAIL = "fail"
    SKIPPED = "skipped"
