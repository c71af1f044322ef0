"""The answer to a request, once it is decided, and all that it took."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from unmask.backend import Generation, Usage, are_estimated
from unmask.cache.cache import Found
from unmask.control.attempt import Attempt, AttemptReason, best_of, steps_of
from unmask.control.searched import Searched
from unmask.control.verdict import Verdict
from unmask.types import ExitReason, Outcome


class Cap(StrEnum):
    """Which limit an answer met: steps of a canvas, steps of the request, further attempts, or time."""

    MAX_STEPS = "max_steps"
    MAX_TOTAL_STEPS = "max_total_steps"
    RE_EXPANSIONS = "re_expansions"
    DEADLINE = "deadline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The generation that is the answer.

    Attributes:
        generation: the best attempt; its usage is of all attempts together, tokens of the answer aside.
        verdict: what its verifiers say.
        attempts: all of them, in the order they were begun; what a ledger books.
        cap: the limit that kept it from becoming better, if one did.
        model: whose answer it is; empty where nobody answers.
        found: what the cache had for it, where it was asked.
        searched: what became of the search for its first attempt, if there was one.
    """

    generation: Generation
    verdict: Verdict
    attempts: tuple[Attempt, ...]
    cap: Cap | None = None
    model: str = ""
    found: Found | None = None
    searched: Searched | None = None

    @property
    def first(self) -> Generation:
        """The first attempt: the one that exit rules and controls are about."""
        return self.attempts[0].generation

    @property
    def reexpansions(self) -> int:
        """Further attempts after a failed verification."""
        return sum(attempt.reason.is_further for attempt in self.attempts)

    @property
    def steps_reexpansion(self) -> int:
        """Denoise steps of these."""
        return steps_of(attempt for attempt in self.attempts if attempt.reason.is_further)

    @property
    def steps_verify(self) -> int:
        """Denoise steps of samples that answers were compared with, and of refined prompts beside unrefined ones."""
        compared = {AttemptReason.CONSISTENCY, AttemptReason.REFINED}
        return steps_of(attempt for attempt in self.attempts if attempt.reason in compared)

    @property
    def steps_search(self) -> int:
        """Denoise steps of what a search has run beside its answer."""
        return steps_of(attempt for attempt in self.attempts if attempt.reason is AttemptReason.SEARCH)


def answered(attempts: Iterable[Attempt], cap: Cap | None = None) -> Answered:
    """Return the best of attempts, and the limit that it met if ``cap`` names none."""
    made = tuple(attempts)
    best = best_of(made)
    if len(made) == 1:
        kept = best.generation
    else:
        kept = replace(best.generation, usage=_together(best.generation.usage, [one.generation.usage for one in made]))
    return Answered(generation=kept, verdict=best.verdict, attempts=made, cap=cap or _cap_of(kept), model=best.model)


def followed(found: Answered, after: Answered) -> Answered:
    """Return the answer to a request that a small model was tried on, and then a larger one: the larger one's.

    Unless it did not complete, or fails more verifiers than the small one's. Its usage is of both.
    """
    is_worse = after.generation.outcome is not Outcome.COMPLETED or (
        found.generation.outcome is Outcome.COMPLETED and len(after.verdict.failures) > len(found.verdict.failures)
    )
    kept = found if is_worse else after
    later = (
        replace(attempt, reason=AttemptReason.ESCALATE) if attempt.reason is AttemptReason.FIRST else attempt
        for attempt in after.attempts
    )
    made = (*found.attempts, *later)
    usage = _together(kept.generation.usage, [attempt.generation.usage for attempt in made])
    return replace(kept, generation=replace(kept.generation, usage=usage), attempts=made)


def unanswered(first: Generation, model: str = "") -> Answered:
    """Return a first attempt that did not complete: there is no answer to verify."""
    assert first.outcome is not Outcome.COMPLETED, "what has completed is verified"
    return Answered(
        generation=first,
        verdict=Verdict(),
        attempts=(Attempt(reason=AttemptReason.FIRST, generation=first, budget=None, model=model),),
    )


def _together(best: Usage, all_of_them: list[Usage]) -> Usage:
    first = all_of_them[0]
    return replace(
        best,
        # The prompt is one, and what of it the first attempt found is what the client can know of.
        cached_tokens=first.cached_tokens,
        prefill_tokens=sum(one.prefill_tokens for one in all_of_them),
        commit_tokens=sum(one.commit_tokens for one in all_of_them),
        steps_allocated=sum(one.steps_allocated for one in all_of_them),
        steps_used=sum(one.steps_used for one in all_of_them),
        canvases=sum(one.canvases for one in all_of_them),
        drafted=sum(one.drafted for one in all_of_them),
        accepted=sum(one.accepted for one in all_of_them),
        steps_known=all(one.steps_known for one in all_of_them),
        steps_estimated=are_estimated(all_of_them),
        cap_ignored=any(one.cap_ignored for one in all_of_them),
        tokens_known=all(one.tokens_known for one in all_of_them),
    )


def _cap_of(generation: Generation) -> Cap | None:
    match generation.usage.exit_reason:
        case ExitReason.MAX_STEPS:
            return Cap.MAX_STEPS
        case ExitReason.MAX_TOTAL_STEPS:
            return Cap.MAX_TOTAL_STEPS
        case _:
            return None
