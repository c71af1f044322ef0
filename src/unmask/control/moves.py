"""Decides what is tried after a failed verification: one move at a time, from what was tried before."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from unmask.backend import Lever, ModelInfo, Request
from unmask.control.answered import Cap
from unmask.control.attempt import Attempt, AttemptReason, best_of, most_steps_of
from unmask.control.expansion import Expansion
from unmask.control.reopen import reopened
from unmask.control.verdict import Failure
from unmask.search.plan import WARM
from unmask.search.requests import drawable
from unmask.tasks.criteria import Response
from unmask.types import Draft, ExitReason, Mode, StepBudget

MOST_REOPENED = 2
"""How often an answer is reopened: first the span and its neighbours, then everything from the span on."""
ATTEMPT_SEEDS = b"unmask-attempt"
"""What tells the seeds of further attempts from those of a search's generations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A further attempt: what is sent, why, and which failure it is to mend."""

    reason: AttemptReason
    request: Request
    answers: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Moves:
    """What may be tried for one request.

    Attributes:
        request: as its first attempt was sent.
    """

    request: Request
    model: ModelInfo
    expansion: Expansion

    def following(self, attempts: Sequence[Attempt]) -> Move | Cap | None:
        """Return the move that follows attempts whose best has failed.

        The failure's kind decides: its task type has the span reopened, or the answer generated again with the next
        budget. Where that could only give the same answer again the other is tried; where nothing could give another
        one, or only a person can help, there is no move.

        Returns:
            The move; or the limit that stands in its way; or nothing, where no limit does.
        """
        if sum(attempt.reason.is_further for attempt in attempts) >= self.expansion.limit:
            return Cap.RE_EXPANSIONS
        budget = self._budget(attempts)
        if budget is None:
            return Cap.MAX_TOTAL_STEPS
        if self._is_late(attempts, budget):
            return Cap.DEADLINE
        best = best_of(attempts)
        failure = best.verdict.failures[0]
        declared = self.expansion.responses[failure.kind]
        if declared is Response.HAND_TO_PERSON:
            return None
        by_span = self._reopening(attempts, best, failure, budget)
        again = self._again(attempts, failure, budget)
        ordered = (by_span, again) if declared is Response.REOPEN_SPAN else (again, by_span)
        found = next((move for move in ordered if move is not None), None)
        is_capped = self._has(Lever.BUDGET) and budget.max_steps == self._steps(attempts)
        return found or (Cap.MAX_STEPS if is_capped else None)

    def _has(self, lever: Lever) -> bool:
        return lever in self.model.levers

    def _steps(self, attempts: Sequence[Attempt]) -> int:
        """Return the steps of a canvas that the latest attempt was allowed."""
        latest = next(attempt.budget for attempt in reversed(attempts) if attempt.is_answer)
        return self.model.default_steps_of(self.request.canvas_length) if latest is None else latest.max_steps

    def _budget(self, attempts: Sequence[Attempt]) -> StepBudget | None:
        """Return what a further attempt may take, or nothing where the total is spent."""
        total = self.expansion.max_total_steps
        left = None if total is None else total - most_steps_of(attempts)
        if left is not None and left < 1:
            return None
        return StepBudget(max_steps=self.expansion.grown(self._steps(attempts)), max_total_steps=left)

    def _is_late(self, attempts: Sequence[Attempt], budget: StepBudget) -> bool:
        """Tell whether a further attempt would end past the deadline, if its steps take as long as the latest's."""
        if self.expansion.deadline_s is None:
            return False
        # What a search has run beside the answer has yielded to others, so its pace is not that of an answer.
        latest = next(one.generation for one in reversed(attempts) if one.reason is not AttemptReason.SEARCH)
        timing, usage = latest.timing, latest.usage
        elapsed = max(one.generation.timing.finished for one in attempts) - _arrived(attempts)
        step_s = (timing.finished - timing.started) / max(1, usage.most_steps)
        steps = budget.max_steps * max(1, usage.canvases)
        if budget.max_total_steps is not None:
            steps = min(steps, budget.max_total_steps)
        return elapsed + steps * step_s > self.expansion.deadline_s

    def _reopening(
        self, attempts: Sequence[Attempt], best: Attempt, failure: Failure, budget: StepBudget
    ) -> Move | None:
        earlier = sum(attempt.reason is AttemptReason.REOPEN for attempt in attempts)
        if earlier >= MOST_REOPENED or self.request.mode is not Mode.DIFFUSION or not self._has(Lever.DRAFT):
            return None
        length = self.request.canvas_length or self.model.default_canvas_length
        draft = reopened(best.generation, length, failure.span, to_end=earlier > 0)
        return None if draft is None else self._move(AttemptReason.REOPEN, attempts, failure, budget, draft)

    def _again(self, attempts: Sequence[Attempt], failure: Failure, budget: StepBudget) -> Move | None:
        if self._is_greedy and self.request.mode.is_causal:
            # A token a step leaves nothing for a larger budget to change: what is drawn may be another answer.
            return self._move(AttemptReason.AGAIN, attempts, failure, budget, None)
        exited = attempts[0].generation.usage.exit_reason is ExitReason.EARLY_EXIT and len(attempts) == 1
        grows = self._has(Lever.BUDGET) and budget.max_steps > self._steps(attempts)
        is_other = grows or not self._is_greedy or exited
        if not is_other or self._repeats(attempts):
            return None
        return self._move(AttemptReason.AGAIN, attempts, failure, budget, None)

    @property
    def _is_greedy(self) -> bool:
        return self.request.sampling.temperature == 0

    def _repeats(self, attempts: Sequence[Attempt]) -> bool:
        """Tell whether a larger budget has brought the same answer again: one larger still would do so too."""
        answers = [attempt for attempt in attempts if attempt.is_answer]
        latest = answers[-1]
        return (
            latest.reason is AttemptReason.AGAIN
            and self._is_greedy
            and any(latest.generation.text == earlier.generation.text for earlier in answers[:-1])
        )

    def _move(
        self,
        reason: AttemptReason,
        attempts: Sequence[Attempt],
        failure: Failure,
        budget: StepBudget,
        draft: Draft | None,
    ) -> Move:
        request, sampling = self.request, self.request.sampling.reseeded(len(attempts), use=ATTEMPT_SEEDS)
        if self._is_greedy and request.mode.is_causal:
            request, sampling = drawable(request), replace(sampling, temperature=WARM)
        request = replace(
            request,
            budget=budget if self._has(Lever.BUDGET) else None,
            bucket=self.expansion.bucket(budget.max_steps) if self._has(Lever.BUDGET) else None,
            smaller=(),
            draft=draft,
            sampling=sampling,
            arrived=_arrived(attempts),
            # An exit may be why the answer failed, and who watches a stream of drafts has been told of the first.
            exit=None,
            check=None,
            snapshots=False,
        )
        return Move(reason=reason, request=request, answers=failure)


def _arrived(attempts: Sequence[Attempt]) -> float:
    """Return when a request arrived: of a search's runs, of which any may be the answer, the earliest did then."""
    return min(attempt.generation.timing.arrived for attempt in attempts)
