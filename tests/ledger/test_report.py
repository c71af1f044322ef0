"""Behaviour of `unmask.ledger.report` and `unmask.ledger.report_text`."""

import csv
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from tests.ledger.databases import World, crash
from unmask.ledger.book import DatabaseLedger
from unmask.ledger.owner import Owner
from unmask.ledger.rejection import Rejection
from unmask.ledger.report import By, Report, last_days, make_report
from unmask.ledger.report_text import FIGURES, report_csv, report_record
from unmask.ledger.settlement import Purpose
from unmask.testing.ledgers import make_attempt, make_reservation, make_settlement
from unmask.types import Outcome

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
WEEK = last_days(7, NOW)
AGAIN = make_attempt(purpose=Purpose.RE_EXPANSION, steps=20, token_steps=320, prefill_tokens=0, steps_allocated=50)


async def spend(world: World, ledger: DatabaseLedger, when: datetime, tenant: str, *tags: str) -> None:
    """Have a request answered at its second attempt: 42 for the first, 80 for the second."""
    world.wall.set(when.timestamp())
    owner = Owner(tenant=tenant, tags=tags)
    reserved = await ledger.reserve(make_reservation(owner=owner, task="sort" if tenant == "acme" else "lookup"))
    first = make_attempt(steps_saved=30, steps_control=4, token_steps_control=64)
    await ledger.settle(make_settlement(reserved.id, attempts=(first, AGAIN)))


async def fill(world: World) -> None:
    """Book two weeks of two tenants, a rejection, a failure that nobody pays, and a crash."""
    engine = world.engine()
    dying = world.open(engine)
    world.wall.set(NOW.timestamp())
    await dying.reserve(make_reservation("other"))
    crash(dying)
    engine.dispose()
    world.machine.end()
    async with world.ledger() as ledger:
        for days in range(14):
            await spend(world, ledger, NOW - timedelta(days=days), "acme", "app", "beta")
        await spend(world, ledger, NOW - timedelta(days=8), "other")
        world.wall.set(NOW.timestamp())
        await ledger.reject(Rejection(owner=Owner(tenant="acme"), reason="queue_full"))
        failed = await ledger.reserve(make_reservation("other"))
        await ledger.settle(make_settlement(failed.id, outcome=Outcome.FAILED, accepted=False, billed=False))


def report(world: World, by: By) -> Report:
    """Report the last week."""
    with world.reading() as connection:
        return make_report(connection, by, WEEK)


async def test_spending_by_tenant(world: World) -> None:
    """What is charged to nobody is the platform's; re-expansion, control and exits have figures of their own."""
    await fill(world)
    found = report(world, By.TENANT)
    acme, other, platform = found.lines
    now = acme.now

    assert [line.name for line in found.lines] == ["acme", "other", "platform"]
    assert (now.requests, now.accepted, now.rejected) == (8, 7, 1)
    assert (now.steps, now.steps_re_expansion, now.steps_control, now.steps_saved) == (210, 140, 28, 210)
    assert (now.cost, now.cost_re_expansion, now.cost_control) == (7 * 122, 7 * 80, 7 * 16)
    assert (now.re_expansion_share, now.re_expansion_cost_share) == (140 / 210, 80 / 122)
    assert now.saved_share == 30 / 150
    assert now.unit_price == 122
    assert acme.before == replace(now, requests=7, rejected=0)
    assert (other.now.requests, other.before.requests, other.before.cost) == (0, 1, 122)
    # A crash's orphan at what was reserved, and the failure's one attempt.
    assert (platform.now.requests, platform.now.lost, platform.now.cost) == (2, 1, 403 + 42)
    assert platform.now.cost_platform == platform.now.cost


async def test_the_effective_unit_price_has_all_cost_in_it(world: World) -> None:
    """Further attempts, failures and what is lost: all cost by accepted answers."""
    await fill(world)
    total = report(world, By.TASK).total

    assert total.now.cost == 7 * 122 + 403 + 42
    assert total.now.unit_price == total.now.cost / 7
    assert total.before.unit_price == 122
    assert [line.name for line in report(world, By.TASK).lines] == ["(none)", "lookup", "sort"]


async def test_a_request_is_in_a_line_for_each_of_its_tags(world: World) -> None:
    """And once in the total."""
    await fill(world)
    found = report(world, By.TAG)

    assert [(line.name, line.now.accepted) for line in found.lines] == [("(none)", 0), ("app", 7), ("beta", 7)]
    assert found.total.now.accepted == 7


async def test_days_are_compared_with_those_of_the_period_before(world: World) -> None:
    """Days of UTC, each beside the one a week earlier."""
    await fill(world)
    found = report(world, By.DAY)

    assert [line.name for line in found.lines] == [f"2026-11-{day}" for day in range(24, 31)]
    assert [line.now.accepted for line in found.lines] == [1] * 7
    assert [line.before.accepted for line in found.lines] == [1, 1, 1, 1, 1, 2, 1]


async def test_lines_add_up_to_the_total(world: World) -> None:
    """By whatever is asked for, tags aside."""
    await fill(world)
    for by in set(By) - {By.TAG}:
        found = report(world, by)
        assert sum(line.now.cost for line in found.lines) == found.total.now.cost
        assert sum(line.now.requests for line in found.lines) == found.total.now.requests


async def test_an_empty_ledger_has_no_lines(world: World) -> None:
    """And no unit price, which is not nought."""
    found = report(world, By.TENANT)

    assert found.lines == ()
    assert found.total.now.unit_price is None
    assert found.total.now.re_expansion_share is None


async def test_csv_and_json_hold_every_figure(file_world: World) -> None:
    """A row for each line and period; a name that a spreadsheet would take for a formula is none."""
    async with file_world.ledger() as ledger:
        await spend(file_world, ledger, NOW, "=cmd()")
    found = report(file_world, By.TENANT)
    head, now, before, *total = list(csv.reader(report_csv(found).splitlines()))
    record = report_record(found)
    lines = record["lines"]

    assert head == ["tenant", "period", *FIGURES]
    assert now[:3] == ["'=cmd()", "now", "1"]
    assert before[:3] == ["'=cmd()", "before", "0"]
    assert before[head.index("unit_price")] == ""
    assert [row[:2] for row in total] == [["total", "now"], ["total", "before"]]
    assert isinstance(lines, list)
    assert lines[0]["now"]["unit_price"] == 122
    assert record["start"] == "2026-11-24T00:00:00+00:00"


async def test_samples_to_compare_with_have_figures_of_their_own(world: World) -> None:
    """They answer nothing, so what they take is told apart from what answers took."""
    world.wall.set(NOW.timestamp())
    sample = make_attempt(purpose=Purpose.VERIFICATION, steps=5, token_steps=80, prefill_tokens=0)
    async with world.ledger() as ledger:
        reserved = await ledger.reserve(make_reservation())
        await ledger.settle(make_settlement(reserved.id, attempts=(make_attempt(), sample, sample)))
    now = report(world, By.TENANT).total.now

    assert (now.steps, now.steps_verification, now.cost, now.cost_verification) == (20, 10, 82, 40)
    assert now.verification_share == 0.5
    assert world.verify().faults == ()
