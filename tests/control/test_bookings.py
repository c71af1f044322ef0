"""Behaviour of `unmask.control.bookings`."""

from dataclasses import replace

from unmask.backend import ExitRecord, Timing
from unmask.control.attempt import Attempt, AttemptReason
from unmask.control.bookings import attempts_of, reservation_of
from unmask.control.caller import Caller
from unmask.control.worst import worst_of
from unmask.ledger.owner import Owner
from unmask.ledger.settlement import Purpose
from unmask.tasks.consistency import SelfConsistency
from unmask.testing.attempts import make_admitted, make_expansion
from unmask.testing.budget_policies import RULE
from unmask.testing.builders import make_generation, make_usage
from unmask.testing.policies import make_assignment
from unmask.types import Bucket, ExitAction, ExitPlan, StepBudget

CALLER = Caller(owner=Owner(tenant="acme"), request_id="mine", idempotency_key="once", fingerprint="f")
BUDGET = StepBudget(max_steps=16)
ADMITTED = make_admitted(expansion=None)


def made(reason: AttemptReason, *times: float, **usage: int) -> Attempt:
    """Return an attempt that arrived, started and finished at these times."""
    arrived, started, finished = times or (0.0, 0.0, 0.0)
    timing = Timing(arrived=arrived, started=started, finished=finished)
    return Attempt(reason=reason, generation=make_generation(usage=make_usage(**usage), timing=timing), budget=BUDGET)


def test_a_call_reserves_for_all_of_its_choices() -> None:
    """Steps, the tokens that they forward, and what may be prefilled."""
    reservation = reservation_of([ADMITTED, ADMITTED], CALLER)

    worst = worst_of(ADMITTED)
    assert (reservation.steps, reservation.token_steps) == (2 * worst.steps, 2 * worst.token_steps)
    assert reservation.prefill_tokens == 2 * worst.prefill_tokens
    assert worst.token_steps == 8 * worst.steps
    names = (reservation.request_id, reservation.idempotency_key, reservation.fingerprint, reservation.owner.tenant)
    assert names == ("mine", "once", "f", "acme")


def test_what_choices_do_not_share_is_left_open() -> None:
    """Their bucket; of task types it is said that there are several."""
    other = replace(ADMITTED, assignment=make_assignment(task="sort", bucket=Bucket.L))

    assert reservation_of([ADMITTED, other], CALLER).bucket is None
    assert reservation_of([ADMITTED, other], CALLER).task == "mixed"
    assert reservation_of([other, other], CALLER).task == "sort"
    assert reservation_of([other, other], CALLER).bucket is Bucket.L


def test_no_attempt_prefills_more_than_the_context() -> None:
    """Each of them, and each of its samples."""
    chat = replace(ADMITTED.request.messages[0], content="x" * 10_000)
    long = replace(ADMITTED, request=replace(ADMITTED.request, messages=(chat,)))
    many = replace(long, consistency=SelfConsistency(samples=2), expansion=make_expansion(limit=1))

    assert worst_of(long).prefill_tokens == ADMITTED.model.context_length
    assert worst_of(many).prefill_tokens == 6 * ADMITTED.model.context_length


def test_attempts_say_what_they_were_for() -> None:
    """And what they took; the time before a further one begins was its predecessor's."""
    attempts = list(
        attempts_of(
            ADMITTED,
            [
                made(AttemptReason.FIRST, 0, 1, 3, steps_used=4, prefill_tokens=7, commit_tokens=8, cached_tokens=5),
                made(AttemptReason.CONSISTENCY, 0, 4, 5),
                made(AttemptReason.REOPEN, 0, 6, 9),
                made(AttemptReason.AGAIN, 0, 10, 11),
            ],
        )
    )

    assert [one.purpose for one in attempts] == [
        Purpose.ANSWER,
        Purpose.VERIFICATION,
        Purpose.RE_EXPANSION,
        Purpose.RE_EXPANSION,
    ]
    assert [one.queue_s for one in attempts] == [1, 1, 3, 1]
    assert [one.run_s for one in attempts] == [2, 1, 3, 1]
    first = attempts[0]
    assert (first.steps, first.token_steps, first.prefill_tokens, first.cached_tokens) == (4, 32, 15, 5)


def test_an_exit_saves_what_is_left_of_the_canvases_that_were_begun() -> None:
    """Those that were never begun would not have been."""
    stops = replace(ADMITTED, request=replace(ADMITTED.request, exit=ExitPlan(rule=RULE, action=ExitAction.STOP)))
    attempt = made(AttemptReason.FIRST, steps_used=10, canvases=2, steps_allocated=128)
    exited = replace(attempt, generation=replace(attempt.generation, exit=ExitRecord(steps=10, text="")))

    assert [one.steps_saved for one in attempts_of(stops, [exited])] == [22]
    assert [one.steps_saved for one in attempts_of(stops, [attempt])] == [0]
    assert [one.steps_saved for one in attempts_of(ADMITTED, [exited])] == [0]


def test_a_control_run_tells_what_it_took_beyond_its_exit() -> None:
    """A part of its steps."""
    control = replace(ADMITTED, assignment=make_assignment(is_control=True))
    attempt = made(AttemptReason.FIRST, steps_used=10)
    met = replace(attempt, generation=replace(attempt.generation, exit=ExitRecord(steps=6, text="")))
    (booked,) = attempts_of(control, [met])

    assert (booked.steps, booked.steps_control, booked.token_steps_control) == (10, 4, 32)
    assert [one.steps_control for one in attempts_of(ADMITTED, [met])] == [0]
