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
