"""A first attempt by search: what is taken, what is booked beside it, and what further attempts may still take."""

from dataclasses import replace

import pytest

from unmask.backend import Generation, Request
from unmask.control.attempt import AttemptReason
from unmask.control.bookings import attempts_of
from unmask.control.reexpand import conclude
from unmask.control.searching import begin
from unmask.control.worst import most_steps, worst_of
from unmask.errors import QueueFullError
from unmask.ledger.settlement import Purpose
from unmask.search.plan import SearchPlan
from unmask.service import SearchMethod
from unmask.testing.attempts import Attempts, make_admitted, say
from unmask.testing.builders import make_generation
from unmask.testing.manual_clock import ManualClock
from unmask.types import Outcome

PLAN = SearchPlan(method=SearchMethod.CANDIDATES, width=3)
WORDS = (["하나"], ["둘"], ["셋"])
SURE = ([-0.5], [-0.1], [-0.3])


def answering(request: Request, number: int) -> Generation:
    """Answer the numbers one to three, the second one surest."""
    return say(WORDS[number % 3], SURE[number % 3])


async def test_without_a_search_the_request_is_run_once() -> None:
    """As it is."""
    generate = Attempts(answering)
    begun = await begin(make_admitted(), generate, ManualClock())
    assert (begun.first.text, len(begun.beside), len(generate.requests)) == ("하나", 0, 1)


async def test_the_best_is_the_first_attempt_and_the_rest_is_booked_as_search() -> None:
    """Steps of all of them are in the usage."""
    admitted, generate = make_admitted(search=PLAN, expansion=None), Attempts(answering)
    begun = await begin(admitted, generate, ManualClock())
    found = await conclude(admitted, begun.first, generate, beside=begun.beside)

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
            await begin(admitted, generate, ManualClock())
    else:
        assert (await begin(admitted, generate, ManualClock())).first.outcome is Outcome.FAILED
