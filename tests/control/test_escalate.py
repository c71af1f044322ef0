"""Behaviour of a route's request whose small model fails it."""

from dataclasses import replace

import pytest

from unmask.backend import Generation, Request
from unmask.control.admitted import Admitted
from unmask.control.answered import Answered, Cap
from unmask.control.attempt import AttemptReason
from unmask.control.check import make_check
from unmask.control.escalate import begin_small, escalate, within_rest
from unmask.control.reexpand import conclude
from unmask.control.searching import SearchParts
from unmask.errors import DeadlineError, DrainingError, InvalidRequestError, NoCapacityError
from unmask.tasks.formats import JsonObject
from unmask.testing.attempts import Attempts, make_admitted, make_expansion, say
from unmask.testing.builders import make_generation
from unmask.testing.manual_clock import ManualClock
from unmask.testing.routes import LARGE, SMALL
from unmask.types import Outcome, StepBudget

GOOD, BAD = '{"말": 1}', "no JSON"


def make_routed(total: int | None = None) -> Admitted:
    """Return a request for a JSON object that goes to nano first, and is tiny's where that fails."""
    plain = make_admitted(expansion=None, max_total_steps=total)
    check = make_check(plain.request.messages, None, JsonObject())
    small, large = (
        replace(plain, model=model, request=replace(plain.request, model=model.name), check=check)
        for model in (SMALL, LARGE)
    )
    return replace(small, escalation=large)


def by_model(nano: str | Exception | Generation, tiny: str | Exception | Generation = GOOD) -> Attempts:
    """Answer each model's requests with a text, an error, or as it is."""

    def answer(request: Request, _: int) -> Generation | Exception:
        found = nano if request.model == "nano" else tiny
        return say([found]) if isinstance(found, str) else found

    return Attempts(answer)


async def answer(admitted: Admitted, attempts: Attempts) -> Answered:
    """Take a request to its answer, as a controller does."""
    begun = await begin_small(admitted, attempts, SearchParts(clock=ManualClock()), arrived=0)
    found = await conclude(begun.served or admitted, begun.first, attempts, beside=begun.beside)
    if begun.served is None and found.verdict.failures:
        found = await escalate(admitted, found, attempts, SearchParts(clock=ManualClock()))
    return found


async def test_an_answer_that_passes_is_the_small_models() -> None:
    """Nothing else runs."""
    attempts = by_model(GOOD)
    found = await answer(make_routed(), attempts)

    assert (found.model, found.generation.text) == ("nano", GOOD)
    assert [request.model for request in attempts.requests] == ["nano"]


async def test_a_failed_answer_is_attempted_again_by_the_large_model() -> None:
    """One answer of two attempts: both are there to be booked, and the usage is of both."""
    found = await answer(make_routed(), by_model(BAD))

    assert (found.model, found.generation.text, found.verdict.failures) == ("tiny", GOOD, ())
    assert [(one.model, one.reason) for one in found.attempts] == [
        ("nano", AttemptReason.FIRST),
        ("tiny", AttemptReason.ESCALATE),
    ]
    assert found.generation.usage.steps_used == 8
    assert (found.reexpansions, found.steps_reexpansion) == (1, 4)


async def test_where_both_fail_the_large_models_answer_is_taken() -> None:
    """It is the better guess; its own further attempts come first."""
    routed = make_routed()
    assert routed.escalation is not None
    routed = replace(routed, escalation=replace(routed.escalation, expansion=make_expansion(limit=1)))
    found = await answer(routed, by_model(BAD, "also none"))

    assert (found.model, found.generation.text) == ("tiny", "also none")
    assert [one.reason for one in found.attempts][:2] == [AttemptReason.FIRST, AttemptReason.ESCALATE]
    assert len(found.attempts) == 3


@pytest.mark.parametrize(
    ("error", "cap"),
    [
        (NoCapacityError("full"), None),
        (DeadlineError("late"), Cap.DEADLINE),
        (make_generation("", outcome=Outcome.FAILED, finish_reason=None, error="broke"), None),
    ],
)
async def test_where_the_large_model_cannot_the_small_ones_answer_stays(
    error: Exception | Generation, cap: Cap | None
) -> None:
    """There is an answer already, and what the large model took is booked all the same."""
    found = await answer(make_routed(), by_model(BAD, error))

    assert (found.model, found.generation.text, found.cap) == ("nano", BAD, cap)
    assert len(found.attempts) == (2 if isinstance(error, Generation) else 1)


async def test_a_small_model_that_is_down_is_passed_over() -> None:
    """The large one answers as if it had been asked, and begins the books."""
    attempts = by_model(NoCapacityError("down"))
    begun = await begin_small(make_routed(), attempts, SearchParts(clock=ManualClock()), arrived=0)
    found = await answer(make_routed(), attempts)

    assert begun.served is not None
    assert (found.model, found.generation.text) == ("tiny", GOOD)
    assert [(one.model, one.reason) for one in found.attempts] == [("tiny", AttemptReason.FIRST)]


async def test_a_small_model_that_breaks_is_followed_by_the_large_one() -> None:
    """What it took by then is told, so that it can be booked."""
    broken = make_generation("", outcome=Outcome.FAILED, finish_reason=None, error="broke")
    begun = await begin_small(make_routed(), by_model(broken), SearchParts(clock=ManualClock()), arrived=0)

    assert begun.served is not None
    assert begun.served.model.name == "tiny"
    assert begun.tried is not None
    assert [(one.model, one.steps) for one in begun.tried.attempts] == [("nano", 4)]
    assert begun.first.text == GOOD


@pytest.mark.parametrize("error", [InvalidRequestError("n", 3, "1", "Less."), DeadlineError("late"), DrainingError("")])
async def test_what_no_other_model_would_mend_is_raised(error: Exception) -> None:
    """A request that is not valid, one that is late, and a server that stops."""
    attempts = by_model(error)
    with pytest.raises(type(error)):
        await begin_small(make_routed(), attempts, SearchParts(clock=ManualClock()), arrived=0)

    assert len(attempts.requests) == 1


async def test_both_models_together_take_no_more_than_the_total() -> None:
    """The large one has what the small one left, and is not run where that is nothing."""
    attempts = by_model(BAD)
    found = await answer(make_routed(total=6), attempts)
    spent = await answer(make_routed(total=4), by_model(BAD))

    assert attempts.requests[1].budget == StepBudget(max_steps=4, max_total_steps=2)
    assert found.generation.usage.steps_used == 6
    assert (spent.model, spent.cap, len(spent.attempts)) == ("nano", Cap.MAX_TOTAL_STEPS, 1)


async def test_an_escalated_request_keeps_its_place() -> None:
    """It arrived when the request did, so that its deadline does not begin anew."""
    routed = make_routed()
    begun = await begin_small(routed, by_model(BAD), SearchParts(clock=ManualClock()), arrived=0)
    tried = await conclude(routed, begun.first, by_model(BAD))
    larger = within_rest(routed, tried)

    assert larger is not None
    assert larger.request.arrived == begun.first.timing.arrived
