"""From what the controller knows of a call to what the ledger books of it."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

from unmask.backend import Lever
from unmask.control.admitted import Admitted
from unmask.control.attempt import Attempt, AttemptReason
from unmask.control.caller import Caller
from unmask.control.worst import width_of, worst_of
from unmask.ledger import settlement
from unmask.ledger.reservation import Reservation
from unmask.ledger.settlement import Purpose
from unmask.types import ExitAction

T = TypeVar("T", bound=Hashable)

MIXED = "mixed"
"""Task type of a call whose choices are of several."""

_PURPOSES = {
    AttemptReason.FIRST: Purpose.ANSWER,
    AttemptReason.REOPEN: Purpose.RE_EXPANSION,
    AttemptReason.AGAIN: Purpose.RE_EXPANSION,
    AttemptReason.ESCALATE: Purpose.RE_EXPANSION,
    AttemptReason.CONSISTENCY: Purpose.VERIFICATION,
    AttemptReason.SEARCH: Purpose.SEARCH,
    AttemptReason.REFINED: Purpose.VERIFICATION,
    AttemptReason.CACHE: Purpose.CACHE,
}


def reservation_of(admitted: Sequence[Admitted], caller: Caller) -> Reservation:
    """Return the most that all choices of a call may use together."""
    given = [one.assignment for one in admitted]
    worst = [worst_of(one) for one in admitted]
    # One call asks one model for one class.
    service_class = given[0].service_class
    return Reservation(
        owner=caller.owner,
        service_class="" if service_class is None else service_class.name,
        task=_common(one.task for one in given) or MIXED,
        model=admitted[0].asked_model,
        policy=given[0].policy or "",
        bucket=_common(one.bucket for one in given),
        difficulty=_common(None if one.estimate is None else one.estimate.bin for one in given),
        steps=sum(one.steps for one in worst),
        token_steps=sum(one.token_steps for one in worst),
        prefill_tokens=sum(one.prefill_tokens for one in worst),
        request_id=caller.request_id,
        idempotency_key=caller.idempotency_key,
        fingerprint=caller.fingerprint,
    )


def attempts_of(admitted: Admitted, made: Iterable[Attempt]) -> Iterator[settlement.Attempt]:
    """Yield what each generation for a choice was allowed and took, in the order they were begun."""
    answered = 0.0
    for attempt in made:
        timing = attempt.generation.timing
        # A further attempt keeps the arrival of the first: it waits from when the one before it had ended.
        is_first = attempt.reason in {AttemptReason.FIRST, AttemptReason.SEARCH, AttemptReason.REFINED}
        waits_from = timing.arrived if is_first else max(timing.arrived, answered)
        if not attempt.reason.is_beside:
            answered = timing.finished
        # A request of a model itself is all that model's.
        model = "" if attempt.model == admitted.asked_model else attempt.model
        yield _attempt(admitted.of(attempt.model), attempt, model=model, queue_s=max(0.0, timing.started - waits_from))


def _attempt(admitted: Admitted, attempt: Attempt, *, model: str, queue_s: float) -> settlement.Attempt:
    generation, width = attempt.generation, width_of(admitted)
    usage, timing = generation.usage, generation.timing
    # Of a model without budgets no steps were reserved that would bound them.
    steps = usage.steps_used if Lever.BUDGET in admitted.model.levers else 0
    if usage.steps_estimated:
        # Nobody is charged above what was reserved on the strength of an estimate.
        steps = min(steps, usage.steps_allocated)
    control = _steps_control(admitted, attempt)
    return settlement.Attempt(
        purpose=_PURPOSES[attempt.reason],
        model=model,
        bucket=generation.bucket or (None if attempt.reason.is_further else admitted.assignment.bucket),
        # Beside steps that nobody knows, as if all of them had been saved, it would mislead.
        steps_allocated=usage.steps_allocated if Lever.BUDGET in admitted.model.levers and usage.has_steps else 0,
        steps=steps,
        steps_saved=_steps_saved(admitted, attempt),
        steps_control=control,
        token_steps=steps * width,
        token_steps_control=control * width,
        prefill_tokens=usage.prefill_tokens + usage.commit_tokens,
        cached_tokens=usage.cached_tokens,
        output_tokens=usage.completion_tokens,
        verification=attempt.verdict.verification,
        queue_s=queue_s,
        run_s=max(0.0, timing.finished - timing.started),
        reason="" if attempt.answers is None else attempt.answers.kind.value,
    )


def _steps_saved(admitted: Admitted, attempt: Attempt) -> int:
    """Return what an early exit left of the budget of the canvases that were begun."""
    plan, usage = admitted.request.exit, attempt.generation.usage
    if attempt.reason is not AttemptReason.FIRST or plan is None or plan.action is not ExitAction.STOP:
        return 0
    if attempt.generation.exit is None:
        return 0
    steps = admitted.model.default_steps_of(admitted.request.canvas_length)
    of_canvas = steps if attempt.budget is None else attempt.budget.max_steps
    return max(0, min(usage.steps_allocated, of_canvas * usage.canvases) - usage.steps_used)


def _steps_control(admitted: Admitted, attempt: Attempt) -> int:
    """Return what a control run took beyond where its exit would have stopped it."""
    met = attempt.generation.exit
    if not admitted.assignment.is_control or attempt.reason is not AttemptReason.FIRST or met is None:
        return 0
    return max(0, attempt.generation.usage.steps_used - met.steps)


def _common(values: Iterable[T | None]) -> T | None:
    found = set(values)
    return found.pop() if len(found) == 1 else None
