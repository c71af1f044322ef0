"""A first attempt by search: what is taken, what is booked beside it, and what further attempts may still take."""

from dataclasses import replace
from typing import Any

import pytest

from unmask.backend import Generation, Request
from unmask.control.admitted import Admitted
from unmask.control.attempt import AttemptReason
from unmask.control.bookings import attempts_of
from unmask.control.pressure import Pressure
from unmask.control.reexpand import conclude
from unmask.control.search_choice import SearchChoice, SearchSource
from unmask.control.searched import Searched
from unmask.control.searching import SearchParts, begin
from unmask.control.worst import most_steps, worst_of
from unmask.errors import QueueFullError
from unmask.ledger.settlement import Purpose
from unmask.search.plan import SearchPlan
from unmask.search.running import Limit
from unmask.service import SPARE, SPARE_WEIGHT, ClassTerms, SearchMethod
from unmask.testing.attempts import Attempts, make_admitted, say
from unmask.testing.builders import make_generation
from unmask.testing.fake_backend import IDLE_QUEUE, FakeBackend
from unmask.testing.manual_clock import ManualClock
from unmask.types import Outcome

PLAN = SearchChoice(plan=SearchPlan(method=SearchMethod.CANDIDATES, width=3), source=SearchSource.POLICY)
WORDS = (["하나"], ["둘"], ["셋"])
SURE = ([-0.5], [-0.1], [-0.3])


def answering(request: Request, number: int) -> Generation:
    """Answer the numbers one to three, the second one surest."""
    return say(WORDS[number % 3], SURE[number % 3])


async def test_without_a_search_the_request_is_run_once() -> None:
    """As it is."""
    generate = Attempts(answering)
    begun = await begin(make_admitted(), generate, SearchParts(), arrived=0.0)
    assert (begun.first.text, len(begun.beside), len(generate.requests)) == ("하나", 0, 1)


async def test_the_best_is_the_first_attempt_and_the_rest_is_booked_as_search() -> None:
    """Steps of all of them are in the usage."""
    admitted, generate = make_admitted(search=PLAN, expansion=None), Attempts(answering)
    begun = await begin(admitted, generate, SearchParts(clock=ManualClock()), arrived=0.0)
    found = await conclude(admitted, begun.first, generate, beside=begun.beside)

    assert begun.searched == Searched(method=SearchMethod.CANDIDATES, width=3, source=SearchSource.POLICY)
    assert found.generation.text == "둘"
    assert [one.reason for one in found.attempts] == [AttemptReason.FIRST, *[AttemptReason.SEARCH] * 2]
    assert found.generation.usage.steps_used == 12
    booked = list(attempts_of(admitted, found.attempts))
    assert [one.purpose for one in booked] == [Purpose.ANSWER, Purpose.SEARCH, Purpose.SEARCH]
    assert sum(one.steps for one in booked) == 12


async def test_what_is_reserved_covers_the_search() -> None:
    """Width times the steps of one answer, within the total; and the prompts of all that may run."""
    plain = make_admitted(expansion=None)
    wide = replace(plain, search=PLAN)
    assert most_steps(wide) == 3 * most_steps(plain)
    assert worst_of(wide).prefill_tokens == 3 * worst_of(plain).prefill_tokens
    assert most_steps(replace(wide, max_total_steps=20)) == 20


@pytest.mark.parametrize("lost", [QueueFullError("가득"), make_generation("", outcome=Outcome.FAILED)])
async def test_a_search_without_an_answer_ends_as_its_first_generation(lost: Generation | Exception) -> None:
    """With its error, or as the generation that failed."""
    admitted, generate = make_admitted(search=PLAN), Attempts(lambda _, __: lost)
    if isinstance(lost, Exception):
        with pytest.raises(QueueFullError):
            await begin(admitted, generate, SearchParts(clock=ManualClock()), arrived=0.0)
    else:
        assert (
            await begin(admitted, generate, SearchParts(clock=ManualClock()), arrived=0.0)
        ).first.outcome is Outcome.FAILED


def in_class(**terms: Any) -> Admitted:  # noqa: ANN401 - any field
    """Return a request of the class batch that is searched."""
    admitted = make_admitted(search=PLAN, expansion=None)
    return replace(admitted, request=replace(admitted.request, terms=ClassTerms(name="batch", **terms)))


async def test_what_no_answer_waits_for_yields_to_all_others() -> None:
    """The first candidate has the request's terms; the others have what everybody leaves, and no hurry."""
    generate = Attempts(answering)
    await begin(in_class(weight=8.0, deadline_s=5.0), generate, SearchParts(clock=ManualClock()), arrived=0.0)
    first, *others = (request.terms for request in generate.requests)

    assert (first.name, first.weight, first.deadline_s) == ("batch", 8.0, 5.0)
    for terms in others:
        assert (terms.origin, terms.weight, terms.deadline_s) == ("batch", SPARE_WEIGHT, None)
        assert terms.name == f"batch{SPARE}"


@pytest.mark.parametrize(("arrived", "runs"), [(0.0, 3), (-4.0, 1)])
async def test_the_deadline_counts_from_the_arrival(arrived: float, runs: int) -> None:
    """What a request has waited for its keys, its body and its reservation is not given to it again."""
    generate = Attempts(answering)
    begun = await begin(in_class(deadline_s=4.0), generate, SearchParts(clock=ManualClock()), arrived=arrived)

    assert (len(generate.requests), begun.first.outcome) == (runs, Outcome.COMPLETED)
    assert begun.searched is not None
    late = (Limit.DEADLINE, 2) if runs == 1 else (None, 0)
    assert (begun.searched.limit, begun.searched.dropped) == late


async def test_a_machine_that_is_pressed_gets_no_candidates() -> None:
    """The request itself is run all the same."""
    queue = replace(IDLE_QUEUE, waiting=1, oldest_s=1.0)
    parts = SearchParts(clock=ManualClock(), pressure=Pressure(FakeBackend(queues=(queue,)).load))
    generate = Attempts(answering)
    begun = await begin(in_class(), generate, parts, arrived=0.0)

    assert [request.terms.name for request in generate.requests] == ["batch"]
    assert begun.searched is not None
    assert (begun.searched.limit, begun.searched.dropped) == (Limit.PRESSED, 2)
