"""Behaviour of `unmask.ledger.quality`: what requests cost beside how good their answers were."""

from datetime import UTC, datetime

from tests.ledger.databases import World
from unmask.ledger.quality import Verified, make_quality_report
from unmask.ledger.report import last_days
from unmask.ledger.settlement import Attempt, Purpose
from unmask.stats import wilson
from unmask.testing.ledgers import make_attempt, make_reservation, make_settlement
from unmask.types import Outcome, Verification

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
PASS, FAIL, SKIPPED = Verification.PASS, Verification.FAIL, Verification.SKIPPED


def judged(verification: Verification, purpose: Purpose = Purpose.ANSWER) -> Attempt:
    """Return an attempt with a verdict."""
    return make_attempt(verification=verification, purpose=purpose)


async def fill(world: World) -> None:
    """Book answers of two task types, one mended at its second attempt, one that failed, and one that was lost."""
    world.wall.set(NOW.timestamp())
    again = judged(PASS, Purpose.RE_EXPANSION)
    ran = (
        ("sort", Outcome.COMPLETED, (judged(FAIL), again)),
        ("sort", Outcome.COMPLETED, (judged(FAIL), judged(PASS, Purpose.VERIFICATION))),
        ("sort", Outcome.COMPLETED, (judged(SKIPPED),)),
        ("sort", Outcome.FAILED, (judged(PASS),)),
        ("", Outcome.COMPLETED, (judged(PASS),)),
    )
    async with world.ledger() as ledger:
        for task, outcome, attempts in ran:
            reserved = await ledger.reserve(make_reservation(task=task))
            await ledger.settle(make_settlement(reserved.id, outcome=outcome, attempts=attempts))


async def test_an_answer_counts_by_the_best_of_its_attempts(world: World) -> None:
    """Samples are no answers, what nobody judged is in no rate, and only completed requests have an answer."""
    await fill(world)
    with world.reading() as connection:
        found = make_quality_report(connection, last_days(1, NOW))
    plain, sort = found.lines

    assert (plain.task, sort.task) == ("", "sort")
    assert (sort.spending.requests, sort.verified) == (4, Verified(judged=2, passed=1))
    assert sort.verified.pass_rate == wilson(1, 2)
    assert found.total.spending.requests == 5
    assert found.total.spending.cost == sort.spending.cost + plain.spending.cost
    assert found.total.verified == Verified(judged=3, passed=2)


ROUTED = (
    # Answered by the small model; escalated and mended; escalated in vain, so that the large one's answer stands.
    (("nano", PASS),),
    (("nano", FAIL), ("tiny", PASS)),
    (("nano", FAIL), ("tiny", FAIL)),
    # The large one did not complete: nobody judged it, and the small one's answer stands.
    (("nano", FAIL), ("tiny", SKIPPED)),
    # The small one came to nothing.
    (("nano", SKIPPED), ("tiny", SKIPPED)),
)


async def test_routes_are_told_by_the_model_that_answered(world: World) -> None:
    """With all that its requests took; what is asked of a model itself is in its own line alone."""
    await fill(world)
    async with world.ledger() as ledger:
        for models in ROUTED:
            reserved = await ledger.reserve(make_reservation(model="auto", task="sort"))
            attempts = tuple(
                make_attempt(
                    model=model, verification=verdict, purpose=Purpose.RE_EXPANSION if place else Purpose.ANSWER
                )
                for place, (model, verdict) in enumerate(models)
            )
            await ledger.settle(make_settlement(reserved.id, attempts=attempts))
    with world.reading() as connection:
        found = make_quality_report(connection, last_days(1, NOW))
    nano, tiny = found.answered
    (route,) = (line for line in found.lines if line.model == "auto")

    assert [(line.route, line.model, line.task) for line in found.answered] == [
        ("auto", "nano", "sort"),
        ("auto", "tiny", "sort"),
    ]
    assert (nano.spending.requests, nano.verified) == (2, Verified(judged=2, passed=1))
    assert (tiny.spending.requests, tiny.verified) == (3, Verified(judged=2, passed=1))
    assert nano.spending.steps + tiny.spending.steps == route.spending.steps == 90
    assert nano.spending.cost + tiny.spending.cost == route.spending.cost


async def test_the_costliest_requests_are_listed_first(world: World) -> None:
    """Each with what it took and what was said of its answer."""
    await fill(world)
    with world.reading() as connection:
        found = make_quality_report(connection, last_days(1, NOW), requests=3).requests
        none = make_quality_report(connection, last_days(1, NOW)).requests

    assert [one.cost for one in found] == sorted((one.cost or 0 for one in found), reverse=True)
    assert [one.verification for one in found[:2]] in ([PASS, FAIL], [FAIL, PASS])
    assert all(one.prompt_tokens and one.steps for one in found)
    assert none == ()
