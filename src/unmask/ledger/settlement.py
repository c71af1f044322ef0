"""What a request has used, booked before its last byte goes out."""

from dataclasses import dataclass
from enum import StrEnum

from unmask.types import Bucket, Outcome, Verification


class Purpose(StrEnum):
    """What an attempt was for."""

    ANSWER = "answer"
    RE_EXPANSION = "re_expansion"
    SEARCH = "search"
    VERIFICATION = "verification"
    CACHE = "cache"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One submission to a backend: what it was allowed and what it took.

    Attributes:
        model: which model ran it, whose price it has; empty for the one of its reservation.
        purpose: the first one answers; others are further attempts after a failed verification, candidates, or
            samples that an answer is verified against. ``cache``: an earlier answer is given again, without a step.
        bucket: budget tier, where it had one.
        steps_allocated: denoise steps that it was given.
        steps: denoise steps that it took, those of ``steps_control`` included.
        steps_saved: steps of its budget that an early exit left.
        steps_control: steps of a control run after the exit would have stopped it.
        token_steps: canvas tokens that its steps forwarded.
        token_steps_control: the part of them that ``steps_control`` forwarded.
        prefill_tokens: tokens prefilled, those from a cache not counted.
        cached_tokens: tokens whose prefill a cache spared.
        output_tokens: tokens of its text.
        verification: what the verifier said of it.
        queue_s, run_s: seconds it waited and ran.
        reason: why this attempt was made; the failure's kind for a further one.
    """

    model: str = ""
    purpose: Purpose = Purpose.ANSWER
    bucket: Bucket | None = None
    steps_allocated: int
    steps: int
    steps_saved: int = 0
    steps_control: int = 0
    token_steps: int
    token_steps_control: int = 0
    prefill_tokens: int
    cached_tokens: int = 0
    output_tokens: int = 0
    verification: Verification = Verification.SKIPPED
    queue_s: float = 0.0
    run_s: float = 0.0
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """How a request ended.

    Attributes:
        id: that of its `Reserved`.
        outcome: how it ended; `Ending` has two more: rejected, and lost, which nobody settles.
        reason: why, in a word or two: a finish reason, an error's code.
        attempts: all of its attempts, in the order they began; none where it never ran.
        accepted: whether an answer went out that no verifier had failed; the effective unit price goes by it.
        billed: whether its owner pays; the platform does otherwise.
        cap_applied: whether a cap of its class cut it.
        is_refused: whether it was turned away after it was reserved and before it took anything: it ends as rejected,
            and takes up none of its limits.
        first_byte_s, total_s: seconds from its arrival to the first byte of its answer, and to its end.
    """

    id: str
    outcome: Outcome
    reason: str = ""
    attempts: tuple[Attempt, ...] = ()
    accepted: bool = False
    billed: bool = True
    cap_applied: bool = False
    is_refused: bool = False
    first_byte_s: float | None = None
    total_s: float = 0.0

    def __post_init__(self) -> None:
        assert not (self.is_refused and self.attempts), "what has run was not refused"


class Ending(StrEnum):
    """Every way a request of the ledger may end; exactly one each."""

    COMPLETED = "completed"
    ABORTED = "aborted"
    FAILED = "failed"
    REJECTED = "rejected"
    LOST = "lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """A settlement that is durable; ``cost`` is in micro-units, ``None`` where there is no price."""

    id: str
    cost: int | None
