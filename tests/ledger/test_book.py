"""Behaviour of `unmask.ledger.book`: what is reserved, settled, refused and given back."""

import asyncio
from dataclasses import replace

import pytest

from tests.ledger.databases import World, settled
from unmask.errors import ConfigError
from unmask.ledger.errors import (
    AlreadySettledError,
    DuplicateRequestError,
    IdempotencyMismatchError,
    LedgerUnavailableError,
    LimitExceededError,
    UnknownReservationError,
)
from unmask.ledger.limit import Limit, LimitKind
from unmask.ledger.owner import Owner
from unmask.ledger.price import Price, PriceBook
from unmask.ledger.rejection import Rejection
from unmask.ledger.reservation import Reserved
from unmask.ledger.settlement import Purpose
from unmask.ledger.tables import ATTEMPTS, COUNTERS, ENDS, EVENTS, OPEN, REQUESTS
from unmask.testing.ledgers import make_attempt, make_reservation, make_settlement
from unmask.types import Bucket, Outcome, Verification

HOUR = 3_600


def limit(kind: LimitKind, amount: int, *, scope: str = "tenant:acme", window_s: int = HOUR) -> Limit:
    """Return a limit; concurrency has no window."""
    return Limit(scope=scope, kind=kind, window_s=0 if kind is LimitKind.CONCURRENCY else window_s, amount=amount)


REQUESTS_LIMIT = limit(LimitKind.REQUESTS, 5)
STEPS = limit(LimitKind.STEPS, 250)
COST = limit(LimitKind.COST, 1_000)
AT_ONCE = limit(LimitKind.CONCURRENCY, 2)


async def test_what_is_reserved_is_in_the_database_when_reserve_returns(world: World) -> None:
    """The reservation is durable before the first output byte."""
    async with world.ledger() as ledger:
        reserved = await ledger.reserve(
            make_reservation(owner=Owner(tenant="acme", key="k1", user="ann", tags=("b", "a", "b")), bucket=Bucket.M)
        )
        (row,) = world.rows(REQUESTS)
        assert world.count(OPEN) == 1
        await ledger.settle(make_settlement(reserved.id))

    # 1600 token-steps at a quarter and 50 tokens at a twentieth, rounded up.
    assert (row["id"], row["cost"], row["price"]) == (reserved.id, 403, "2026-11")
    assert (row["tenant"], row["key"], row["end_user"], row["tags"]) == ("acme", "k1", "ann", '["a","b"]')
    assert row["bucket"] == "M"


async def test_what_is_settled_is_in_the_database_when_settle_returns(world: World) -> None:
    """Settled before the last byte: an end with the sums of its attempts, and a row for each of them."""
    again = make_attempt(
        purpose=Purpose.RE_EXPANSION, steps=20, token_steps=320, prefill_tokens=0, cached_tokens=50, reason="format"
    )
    control = make_attempt(steps=30, steps_control=20, token_steps=480, token_steps_control=320)
    async with world.ledger() as ledger:
        reserved = await ledger.reserve(make_reservation())
        done = await ledger.settle(
            make_settlement(
                reserved.id, attempts=(replace(control, verification=Verification.FAIL), again), first_byte_s=0.5
            )
        )
        (row,) = world.rows(ENDS)
        attempts = sorted(world.rows(ATTEMPTS), key=lambda attempt: attempt["number"])
        assert world.count(OPEN) == 0

    # 120 + 2 for the first, of which 80 for the control; 80 for the second.
    assert (done.cost, row["cost"], row["cost_control"], row["cost_re_expansion"]) == (202, 202, 80, 80)
    assert (row["steps"], row["steps_re_expansion"], row["steps_control"]) == (50, 20, 20)
    assert (row["ending"], row["payer"], row["accepted"]) == ("completed", "owner", True)
    assert (row["prefill_tokens"], row["cached_tokens"], row["first_byte_s"]) == (50, 50, 0.5)
    assert [(attempt["purpose"], attempt["verification"]) for attempt in attempts] == [
        ("answer", "fail"),
        ("re_expansion", "skipped"),
    ]
    assert world.verify().faults == ()


async def test_events_are_numbered_without_gaps(world: World) -> None:
    """Reserved, settled, rejected and lost each have an event."""
    async with world.ledger() as ledger:
        reserved = await ledger.reserve(make_reservation())
        await ledger.settle(make_settlement(reserved.id))
        await ledger.reject(Rejection(owner=Owner(tenant="acme"), reason="queue_full"))
        await ledger.reserve(make_reservation())

    kinds = [(event["number"], event["kind"]) for event in world.rows(EVENTS)]
    assert sorted(kinds) == [(1, "reserved"), (2, "settled"), (3, "rejected"), (4, "reserved"), (5, "lost")]
    assert world.verify().faults == ()


@pytest.mark.parametrize(
    ("only", "fit"), [(REQUESTS_LIMIT, 5), (STEPS, 2), (COST, 2), (AT_ONCE, 2)], ids=lambda value: str(value)[:20]
)
async def test_concurrent_requests_never_overspend(world: World, only: Limit, fit: int) -> None:
    """Of 64 requests at once exactly those fit that the limit has room for; the others are booked as rejected."""
    async with world.ledger() as ledger:
        results = await settled(*(ledger.reserve(make_reservation(), (only,)) for _ in range(64)))
        admitted = [result for result in results if isinstance(result, Reserved)]
        refused = [result for result in results if isinstance(result, LimitExceededError)]
        assert (len(admitted), len(refused)) == (fit, 64 - fit)
        assert {error.limit for error in refused} == {only}

    assert world.verify().faults == ()
    rejected = [row for row in world.rows(ENDS) if row["ending"] == "rejected"]
    assert {row["reason"] for row in rejected} == {f"limit_{only.kind}"}
    assert len(rejected) == 64 - fit


async def test_concurrent_requests_of_two_processes_never_overspend(world: World) -> None:
    """The limit holds for all processes on one database together."""
    async with world.ledger() as ours, world.ledger() as theirs:
        asked = [ledger.reserve(make_reservation(), (STEPS, COST)) for ledger in (ours, theirs) for _ in range(20)]
        admitted = [result for result in await settled(*asked) if isinstance(result, Reserved)]

        assert len(admitted) == 2
    assert world.verify().faults == ()


async def test_what_is_not_used_is_given_back(world: World) -> None:
    """A settlement makes room: steps and cost as used, its place among those at once, not its count."""
    limits = (REQUESTS_LIMIT, STEPS, COST, AT_ONCE)
    async with world.ledger() as ledger:
        first = await ledger.reserve(make_reservation(), limits)
        await ledger.settle(make_settlement(first.id))
        second = await ledger.reserve(make_reservation(), limits)

        assert [standing.used for standing in second.standings] == [2, 110, 445, 1]
        assert [standing.remaining for standing in second.standings] == [3, 140, 555, 1]


async def test_what_the_platform_pays_takes_up_no_limit(world: World) -> None:
    """An unbilled request keeps its count and nothing else."""
    async with world.ledger() as ledger:
        reserved = await ledger.reserve(make_reservation(), (REQUESTS_LIMIT, STEPS, COST))
        await ledger.settle(make_settlement(reserved.id, outcome=Outcome.FAILED, billed=False, accepted=False))
        second = await ledger.reserve(make_reservation(), (REQUESTS_LIMIT, STEPS, COST))

        assert [standing.used for standing in second.standings] == [2, 100, 403]
    assert world.verify().faults == ()


async def test_all_limits_or_none(world: World) -> None:
    """A request that one limit refuses takes up none of the others."""
    async with world.ledger() as ledger:
        await ledger.reserve(make_reservation(), (STEPS,))
        await ledger.reserve(make_reservation(), (STEPS,))
        with pytest.raises(LimitExceededError, match="steps of tenant:acme"):
            await ledger.reserve(make_reservation(), (REQUESTS_LIMIT, STEPS))

        assert [row["used"] for row in world.rows(COUNTERS)] == [200]


@pytest.mark.parametrize("limit", [STEPS, COST])
async def test_what_is_only_reserved_is_no_reason_to_wait_for_a_window(world: World, limit: Limit) -> None:
    """Requests that run give back what they do not use, so the next one fits soon; what is used stays used."""
    async with world.ledger() as ledger:
        running = [await ledger.reserve(make_reservation(), (limit,)) for _ in range(2)]
        with pytest.raises(LimitExceededError, match="try again when one of them has ended") as refused:
            await ledger.reserve(make_reservation(), (limit,))
        assert (refused.value.is_held, refused.value.retry_after_s) == (True, 1.0)

        attempts = (make_attempt(steps=100, token_steps=1_600),)
        await settled(*(ledger.settle(make_settlement(one.id, attempts=attempts)) for one in running))
        with pytest.raises(LimitExceededError, match="when the next window begins") as spent:
            await ledger.reserve(make_reservation(), (limit,))

    assert not spent.value.is_held
    assert [row["held"] for row in world.rows(COUNTERS)] == [0]
    assert world.verify().faults == ()


async def test_requests_that_run_free_no_room_among_requests(world: World) -> None:
    """Each of them counts, whatever it uses."""
    async with world.ledger() as ledger:
        await settled(*(ledger.reserve(make_reservation(), (REQUESTS_LIMIT,)) for _ in range(5)))
        with pytest.raises(LimitExceededError) as refused:
            await ledger.reserve(make_reservation(), (REQUESTS_LIMIT,))

    assert not refused.value.is_held


async def test_a_window_ends_and_the_next_begins(world: World) -> None:
    """The error says when to come back, and then there is room."""
    world.wall.set(HOUR * 500_000 + 3_000.0)
    async with world.ledger() as ledger:
        await settled(*(ledger.reserve(make_reservation(), (REQUESTS_LIMIT,)) for _ in range(5)))
        with pytest.raises(LimitExceededError, match="Try again in 600 s") as refused:
            await ledger.reserve(make_reservation(), (REQUESTS_LIMIT,))
        assert refused.value.retry_after_s == 600
        world.wall.set(world.wall.time() + 600)

        assert (await ledger.reserve(make_reservation(), (REQUESTS_LIMIT,))).standings[0].used == 1


async def test_a_window_boundary_overwrites_no_spending(world: World) -> None:
    """What is settled after a boundary is given back to the window it was reserved in."""
    async with world.ledger() as ledger:
        before = [await ledger.reserve(make_reservation(), (STEPS,)) for _ in range(2)]
        world.wall.set(world.wall.time() + HOUR)
        after = await ledger.reserve(make_reservation(), (STEPS,))
        await settled(*(ledger.settle(make_settlement(one.id)) for one in (*before, after)))

    assert sorted(row["used"] for row in world.rows(COUNTERS)) == [10, 20]
    assert world.verify().faults == ()


async def test_a_window_boundary_under_load(world: World) -> None:
    """However the boundary falls between requests, no window holds more than its amount and none is lost."""
    async with world.ledger() as ledger:

        async def call(number: int) -> str:
            await asyncio.sleep(0.001 * (number % 5))
            if number == 2:
                world.wall.set(world.wall.time() + HOUR / 2)
            try:
                reserved = await ledger.reserve(make_reservation(), (REQUESTS_LIMIT, AT_ONCE))
            except LimitExceededError:
                return "refused"
            await ledger.settle(make_settlement(reserved.id))
            return "settled"

        results = [result for _ in range(6) for result in await asyncio.gather(*map(call, range(10)))]

    windows = [row["used"] for row in world.rows(COUNTERS) if row["ends_us"]]
    assert len(windows) >= 3
    assert max(windows) <= REQUESTS_LIMIT.amount
    assert sum(windows) == results.count("settled")
    assert world.verify().faults == ()


async def test_a_clock_that_is_set_back_makes_no_room(world: World) -> None:
    """An earlier window still has all that was used in it."""
    start = world.wall.time()
    async with world.ledger() as ledger:
        await settled(*(ledger.reserve(make_reservation(), (REQUESTS_LIMIT,)) for _ in range(5)))
        world.wall.set(start + HOUR)
        await ledger.reserve(make_reservation(), (REQUESTS_LIMIT,))
        world.wall.set(start)
        with pytest.raises(LimitExceededError):
            await ledger.reserve(make_reservation(), (REQUESTS_LIMIT,))
    assert world.verify().faults == ()


async def test_a_changed_limit_keeps_what_was_used(world: World) -> None:
    """Raising a limit resets nothing, and lowering it neither."""
    async with world.ledger() as ledger:
        await ledger.reserve(make_reservation(), (replace(STEPS, amount=1_000),))
        with pytest.raises(LimitExceededError):
            await ledger.reserve(make_reservation(), (replace(STEPS, amount=150),))


async def test_unknown_cost_reserves_the_cap(world: World) -> None:
    """Without a price a request takes a cost limit whole, and keeps it: nothing is overspent."""
    world.prices = PriceBook(version="x", prices=(Price(model="other", token_step=1, prefill_token=1),))
    async with world.ledger() as ledger:
        reserved = await ledger.reserve(make_reservation(), (COST,))
        assert (reserved.cost, reserved.standings[0].remaining) == (None, 0)
        with pytest.raises(LimitExceededError):
            await ledger.reserve(make_reservation(), (COST,))
        assert (await ledger.settle(make_settlement(reserved.id))).cost is None
        with pytest.raises(LimitExceededError):
            await ledger.reserve(make_reservation(model="other"), (COST,))
        with pytest.raises(LimitExceededError):
            await ledger.reserve(make_reservation("free"), (replace(COST, scope="tenant:free", amount=0),))
    assert world.verify().faults == ()


async def test_more_than_a_limit_allows_never_fits(world: World) -> None:
    """No waiting helps, and the error does not say so."""
    async with world.ledger() as ledger:
        with pytest.raises(LimitExceededError, match="Ask for less") as refused:
            await ledger.reserve(make_reservation(), (replace(STEPS, amount=99),))

    assert refused.value.retry_after_s is None


async def test_two_limits_on_the_same_count_once(world: World) -> None:
    """The tighter decides."""
    async with world.ledger() as ledger:
        reserved = await ledger.reserve(make_reservation(), (STEPS, replace(STEPS, amount=150)))
        assert [standing.used for standing in reserved.standings] == [100, 100]
        with pytest.raises(LimitExceededError, match="allowed: 150"):
            await ledger.reserve(make_reservation(), (STEPS, replace(STEPS, amount=150)))


async def test_a_fresh_database_holds_limits_at_once(world: World) -> None:
    """A tenant that nobody has seen before is limited from its first request on."""
    new = replace(REQUESTS_LIMIT, scope="tenant:new", amount=1)
    async with world.ledger() as ledger:
        results = await settled(*(ledger.reserve(make_reservation("new"), (new,)) for _ in range(8)))

    assert sum(isinstance(result, Reserved) for result in results) == 1


async def test_settling_twice_or_nothing_is_refused(world: World) -> None:
    """One outcome for each request."""
    async with world.ledger() as ledger:
        reserved = await ledger.reserve(make_reservation())
        twice = [ledger.settle(make_settlement(reserved.id)) for _ in range(2)]
        results = await settled(*twice)
        assert [type(result).__name__ for result in results] == ["Settled", "AlreadySettledError"]
        with pytest.raises(AlreadySettledError):
            await ledger.settle(make_settlement(reserved.id, outcome=Outcome.ABORTED))
        with pytest.raises(UnknownReservationError):
            await ledger.settle(make_settlement("none"))
    assert world.verify().faults == ()


async def test_request_ids_of_clients_decide_nothing(world: World) -> None:
    """The same or an empty ``x-request-id`` makes requests of their own, each with its own id."""
    async with world.ledger() as ledger:
        same = [await ledger.reserve(make_reservation(request_id=name)) for name in ("a", "a", "", "")]

    assert len({reserved.id for reserved in same}) == 4
    assert sorted(row["request_id"] for row in world.rows(REQUESTS)) == ["", "", "a", "a"]


async def test_an_idempotency_key_is_booked_once(world: World) -> None:
    """While its request runs, and once it is completed; of several at once one is admitted."""
    once = make_reservation(idempotency_key="do-it", fingerprint="f")
    async with world.ledger() as ledger:
        results = await settled(*(ledger.reserve(once) for _ in range(10)))
        (reserved,) = [result for result in results if isinstance(result, Reserved)]
        assert {getattr(result, "first", None) for result in results} == {None, reserved.id}
        await ledger.settle(make_settlement(reserved.id))
        with pytest.raises(DuplicateRequestError, match="has completed"):
            await ledger.reserve(once)
        with pytest.raises(IdempotencyMismatchError):
            await ledger.reserve(replace(once, fingerprint="other"))
    assert world.verify().faults == ()


async def test_an_idempotency_key_is_its_tenants_own(world: World) -> None:
    """Two tenants may use the same."""
    async with world.ledger() as ledger:
        await ledger.reserve(make_reservation("acme", idempotency_key="1"))
        await ledger.reserve(make_reservation("other", idempotency_key="1"))
    assert world.verify().faults == ()


async def test_an_idempotency_key_may_come_again_after_a_failure(world: World) -> None:
    """Clients send the same key when they try again; after a day it is free too."""
    once = make_reservation(idempotency_key="do-it")
    full = replace(REQUESTS_LIMIT, amount=0)
    async with world.ledger() as ledger:
        with pytest.raises(LimitExceededError):
            await ledger.reserve(once, (full,))
        failed = await ledger.reserve(once)
        await ledger.settle(make_settlement(failed.id, outcome=Outcome.FAILED, accepted=False))
        again = await ledger.reserve(once)
        await ledger.settle(make_settlement(again.id))
        with pytest.raises(DuplicateRequestError):
            await ledger.reserve(once)
        world.wall.set(world.wall.time() + 86_401)
        await ledger.reserve(once)
    assert world.verify().faults == ()


async def test_two_thousand_tenants_in_one_flush(world: World) -> None:
    """Each with limits of its own, all of them in few transactions."""
    async with world.ledger() as ledger:
        results = await settled(
            *(
                ledger.reserve(
                    make_reservation(f"t{number}"),
                    [replace(one, scope=f"tenant:t{number}") for one in (REQUESTS_LIMIT, STEPS, COST)],
                )
                for number in range(2_000)
            )
        )
        assert all(isinstance(result, Reserved) for result in results)
        await settled(*(ledger.settle(make_settlement(result.id)) for result in results))
    assert world.verify().faults == ()
    assert world.count(COUNTERS) == 6_000


async def test_answers_go_to_whoever_asked(world: World) -> None:
    """Results are told by request, whatever order they are settled in."""
    async with world.ledger() as ledger:
        reserved = [await ledger.reserve(make_reservation()) for _ in range(20)]
        steps = {one.id: number for number, one in enumerate(reserved)}
        done = await settled(
            *(
                ledger.settle(make_settlement(name, attempts=(make_attempt(token_steps=4 * number, prefill_tokens=0),)))
                for name, number in reversed(steps.items())
            )
        )

    assert {result.id: result.cost for result in done} == steps


async def test_a_price_that_changes_needs_a_version_of_its_own(world: World) -> None:
    """Old costs can be told again, so no version has two prices."""
    async with world.ledger():
        pass
    world.prices = replace(world.prices, prices=(Price(token_step=1, prefill_token=1),))
    with pytest.raises(ConfigError, match="version of their own"):
        async with world.ledger():
            pass
    world.prices = replace(world.prices, version="2026-12")
    async with world.ledger() as ledger:
        assert (await ledger.reserve(make_reservation())).cost == 1
    assert world.verify().faults == ()


async def test_a_closed_ledger_books_nothing(file_world: World) -> None:
    """What comes after the end is refused at once."""
    async with file_world.ledger() as ledger:
        pass
    with pytest.raises(LedgerUnavailableError, match="closed"):
        await ledger.reserve(make_reservation())
    await asyncio.gather(ledger.close(), ledger.close())


async def test_a_reserved_request_that_is_refused_takes_up_nothing(world: World) -> None:
    """The queue has turned it away: it ends as rejected, and its limits and its idempotency key are free."""
    limits = (Limit(scope="tenant:acme", kind=LimitKind.REQUESTS, window_s=60, amount=1),)
    async with world.ledger() as ledger:
        for _ in range(2):
            reserved = await ledger.reserve(make_reservation(idempotency_key="once"), limits)
            refused = make_settlement(reserved.id, outcome=Outcome.FAILED, attempts=(), accepted=False, is_refused=True)
            assert (await ledger.settle(refused)).cost == 0

    assert [row["ending"] for row in world.rows(ENDS)] == ["rejected", "rejected"]
    assert world.verify().faults == ()
