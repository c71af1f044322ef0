"""From a first attempt to the answer: verifies it, and makes further attempts where its class allows them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from unmask.backend import Generation, Lever
from unmask.backend import Request as GenerateRequest
from unmask.control.admitted import Admitted
from unmask.control.answered import Answered, Cap, answered, unanswered
from unmask.control.attempt import Attempt, AttemptReason, best_of, most_steps_of
from unmask.control.moves import ATTEMPT_SEEDS, Move, Moves
from unmask.control.verdict import Failure, Judge, Verdict
from unmask.errors import DeadlineError, UnmaskError
from unmask.search.requests import drawable
from unmask.tasks.consistency import SelfConsistency
from unmask.tasks.failure import FailureKind
from unmask.types import Outcome, StepBudget

Generate = Callable[[GenerateRequest, AttemptReason], Awaitable[Generation]]
"""Runs a request to its end, as `unmask.backend.Backend.generate` does; told what it is for."""

_LOG = logging.getLogger(__name__)


async def conclude(
    admitted: Admitted, first: Generation, generate: Generate, *, beside: Sequence[Attempt] = ()
) -> Answered:
    """Return the answer to a request whose first attempt has ended.

    An attempt that fails its verifiers is followed by another one, each with a larger budget, until one passes or a
    limit is met; then the best of them is the answer. A further attempt that cannot be run, or does not complete, ends
    that: there is an answer already. Cancelling the call aborts what runs.

    Args:
        admitted: the request.
        first: its first attempt; one that has not completed is returned as it is.
        generate: runs further attempts.
        beside: what a search has run beside the first.
    """
    if first.outcome is not Outcome.COMPLETED:
        return unanswered(first, admitted.model.name)
    return await _Story(admitted=admitted, generate=generate).told(first, beside)


@dataclass(slots=True, kw_only=True)
class _Story:
    """The attempts of one request, as they are made."""

    admitted: Admitted
    generate: Generate
    attempts: list[Attempt] = field(default_factory=list)

    async def told(self, first: Generation, beside: Sequence[Attempt]) -> Answered:
        attempt = self._attempt(AttemptReason.FIRST, first, self.admitted.request.budget)
        # Samples may take only what a search has left.
        self.attempts += beside
        await self._judge(attempt)
        self.attempts.sort(key=lambda one: one.reason is not AttemptReason.FIRST)
        return answered(self.attempts, await self._expand())

    async def _expand(self) -> Cap | None:
        """Make further attempts while the latest has failed and nothing stands in their way."""
        expansion = self.admitted.expansion
        if expansion is None:
            return None
        moves = Moves(request=self.admitted.opening, model=self.admitted.model, expansion=expansion)
        while self._last.verdict.failures:
            move = moves.following(self.attempts)
            if not isinstance(move, Move):
                return move
            try:
                completed = await self._make(move)
            except DeadlineError:
                return Cap.DEADLINE
            if not completed:
                return None
        return None

    @property
    def _last(self) -> Attempt:
        return next(attempt for attempt in reversed(self.attempts) if attempt.is_answer)

    async def _make(self, move: Move) -> bool:
        """Make a further attempt; return whether it completed.

        Raises:
            DeadlineError: it would come too late.
        """
        try:
            generation = await self.generate(move.request, move.reason)
        except DeadlineError:
            raise
        except UnmaskError as error:
            _LOG.warning("a further attempt could not be made, the best answer so far is kept: %s", error)
            return False
        if generation.outcome is not Outcome.COMPLETED:
            _LOG.warning("a further attempt ended as %s: %s", generation.outcome, generation.error)
            # No answer, yet its steps were taken.
            self.attempts.append(self._moved(move, generation))
            return False
        await self._judge(self._moved(move, _with_logprobs(generation, move, self.attempts)))
        return True

    async def _judge(self, attempt: Attempt) -> None:
        """Ask the verifiers, and of what passes them all whether samples agree with it."""
        check, consistency = self.admitted.check, self.admitted.consistency
        if check is None:
            verdict = attempt.verdict
        else:
            verdict = check.verdict(attempt.generation.text)
            attempt = replace(attempt, verdict=verdict)
        self.attempts.append(attempt)
        if consistency is None or verdict.failures:
            return
        place = len(self.attempts) - 1
        samples = await self._samples(attempt, consistency)
        self.attempts[place] = replace(attempt, verdict=_compared(verdict, attempt, samples, consistency))
        self.attempts += samples

    async def _samples(self, attempt: Attempt, consistency: SelfConsistency) -> list[Attempt]:
        """Draw samples side by side; those that cannot be run are left out, and so are all where steps run out."""
        budget = self._share_of_rest(attempt.budget, consistency.samples)
        if budget is not None and budget.max_total_steps == 0:
            return []
        request = self.admitted.opening
        warm = replace(request.sampling, temperature=max(request.sampling.temperature, consistency.temperature))
        requests = [
            replace(
                drawable(request),
                budget=budget,
                smaller=(),
                sampling=warm.reseeded(len(self.attempts) + number, use=ATTEMPT_SEEDS),
                arrived=self.attempts[0].generation.timing.arrived,
                exit=None,
                check=None,
                snapshots=False,
            )
            for number in range(consistency.samples)
        ]
        found = await asyncio.gather(*map(self._generated, requests))
        return [
            self._attempt(AttemptReason.CONSISTENCY, generation, budget)
            for generation in found
            if generation is not None
        ]

    async def _generated(self, request: GenerateRequest) -> Generation | None:
        try:
            return await self.generate(request, AttemptReason.CONSISTENCY)
        except UnmaskError as error:
            _LOG.warning("a sample could not be drawn: %s", error)
            return None

    def _share_of_rest(self, budget: StepBudget | None, count: int) -> StepBudget | None:
        """Return an attempt's budget with an even share of what is left of the request's total."""
        total = self.admitted.max_total_steps
        if total is None or Lever.BUDGET not in self.admitted.model.levers:
            return budget
        left = max(0, total - most_steps_of(self.attempts))
        steps = self.admitted.model.default_steps_of(self.admitted.request.canvas_length)
        return StepBudget(max_steps=steps if budget is None else budget.max_steps, max_total_steps=left // count)

    def _moved(self, move: Move, generation: Generation) -> Attempt:
        return replace(self._attempt(move.reason, generation, move.request.budget), answers=move.answers)

    def _attempt(self, reason: AttemptReason, generation: Generation, budget: StepBudget | None) -> Attempt:
        return Attempt(reason=reason, generation=generation, budget=budget, model=self.admitted.model.name)


def _with_logprobs(generation: Generation, move: Move, attempts: Sequence[Attempt]) -> Generation:
    """Give the tokens that a draft has kept from earlier canvases the log-probabilities they had there."""
    kept = 0 if move.request.draft is None else len(move.request.draft.before)
    return replace(generation, logprobs=best_of(attempts).generation.logprobs[:kept] + generation.logprobs)


def _compared(verdict: Verdict, attempt: Attempt, samples: Sequence[Attempt], consistency: SelfConsistency) -> Verdict:
    """Add what samples say of an answer; too few of them say nothing."""
    texts = [one.generation.text for one in samples if one.generation.outcome is Outcome.COMPLETED]
    agreeing = consistency.agreeing(attempt.generation.text, texts)
    if agreeing >= consistency.agree:
        return replace(verdict, passed=verdict.passed + 1)
    if len(texts) < consistency.samples:
        return verdict
    reason = f"{agreeing} of {len(texts)} samples agree, fewer than {consistency.agree}"
    failure = Failure(kind=FailureKind.LOGIC, judge=Judge.FORMAT, reason=reason)
    return replace(verdict, failures=(failure,))
