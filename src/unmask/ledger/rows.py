"""The rows that a booking adds."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from unmask.ledger.charges import Charge, write_charges
from unmask.ledger.owner import PLATFORM, Owner
from unmask.ledger.price import Price, cost_of
from unmask.ledger.rejection import Rejection
from unmask.ledger.reservation import Reservation
from unmask.ledger.settlement import Attempt, Ending, Purpose, Settlement

Row = dict[str, object]
"""The values of a row, by column; it goes to the database and nowhere else."""

PAYER_OWNER = "owner"
PAYER_PLATFORM = PLATFORM


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """When, by which process and at which prices something is booked."""

    time_us: int
    process: str
    price: str


def request_row(
    request: str, reservation: Reservation, stamp: Stamp, *, cost: int | None, charges: Sequence[Charge]
) -> Row:
    """Return the row of a request that asks for a reservation."""
    return {
        **_request(request, reservation.owner, stamp),
        "request_id": reservation.request_id,
        "idempotency_key": reservation.idempotency_key,
        "service_class": reservation.service_class,
        "task": reservation.task,
        "model": reservation.model,
        "policy": reservation.policy,
        "bucket": reservation.bucket,
        "difficulty": reservation.difficulty,
        "steps": reservation.steps,
        "token_steps": reservation.token_steps,
        "prefill_tokens": reservation.prefill_tokens,
        "cost": cost,
        "charges": write_charges(charges),
    }


def rejected_row(request: str, rejection: Rejection, stamp: Stamp) -> Row:
    """Return the row of a request that was turned away before anything was known of its budget."""
    return {
        **_request(request, rejection.owner, stamp),
        "request_id": rejection.request_id,
        "idempotency_key": None,
        "service_class": rejection.service_class,
        "task": rejection.task,
        "model": rejection.model,
        "policy": "",
        "bucket": None,
        "difficulty": None,
        "steps": 0,
        "token_steps": 0,
        "prefill_tokens": 0,
        "cost": 0,
        "charges": write_charges(()),
    }


def attempt_row(request: str, number: int, attempt: Attempt, price: Price | None, cost: int | None) -> Row:
    """Return the row of an attempt; without a price it has no cost."""
    control = None if price is None else cost_of(price, attempt.token_steps_control, 0)
    return {
        "request": request,
        "number": number,
        "model": attempt.model,
        "purpose": attempt.purpose,
        "reason": attempt.reason,
        "bucket": attempt.bucket,
        "steps_allocated": attempt.steps_allocated,
        "steps": attempt.steps,
        "steps_saved": attempt.steps_saved,
        "steps_control": attempt.steps_control,
        "token_steps": attempt.token_steps,
        "token_steps_control": attempt.token_steps_control,
        "prefill_tokens": attempt.prefill_tokens,
        "cached_tokens": attempt.cached_tokens,
        "output_tokens": attempt.output_tokens,
        "verification": attempt.verification,
        "queue_s": attempt.queue_s,
        "run_s": attempt.run_s,
        "cost": cost,
        "cost_control": control,
    }


def settled_row(settlement: Settlement, attempts: Sequence[Row], price: Price | None, time_us: int) -> Row:
    """Return the row of a request that is settled: the sums of its attempts."""
    took = settlement.attempts
    steps, costs = Counter[Purpose](), Counter[Purpose]()
    for attempt, row in zip(took, attempts, strict=True):
        steps[attempt.purpose] += attempt.steps
        costs[attempt.purpose] += cost_in(row)
    return {
        **_end(settlement.id, Ending(settlement.outcome), settlement.reason, time_us),
        "payer": PAYER_OWNER if settlement.billed else PAYER_PLATFORM,
        "accepted": settlement.accepted,
        "cap_applied": settlement.cap_applied,
        "attempts": len(took),
        "steps_allocated": sum(attempt.steps_allocated for attempt in took),
        "steps": steps.total(),
        "steps_saved": sum(attempt.steps_saved for attempt in took),
        "steps_control": sum(attempt.steps_control for attempt in took),
        "steps_re_expansion": steps[Purpose.RE_EXPANSION],
        "steps_search": steps[Purpose.SEARCH],
        "steps_verification": steps[Purpose.VERIFICATION],
        "prefill_tokens": sum(attempt.prefill_tokens for attempt in took),
        "cached_tokens": sum(attempt.cached_tokens for attempt in took),
        "output_tokens": sum(attempt.output_tokens for attempt in took),
        "cost": None if price is None else costs.total(),
        "cost_control": sum(cost_in(row, "cost_control") for row in attempts),
        "cost_re_expansion": costs[Purpose.RE_EXPANSION],
        "cost_search": costs[Purpose.SEARCH],
        "cost_verification": costs[Purpose.VERIFICATION],
        "queue_s": sum(attempt.queue_s for attempt in took),
        "run_s": sum(attempt.run_s for attempt in took),
        "first_byte_s": settlement.first_byte_s,
        "total_s": settlement.total_s,
    }


def unrun_row(request: str, ending: Ending, reason: str, time_us: int, *, cost: int | None = 0) -> Row:
    """Return the row of a request that ended without attempts that are known of; a cost is the platform's."""
    return {
        **_end(request, ending, reason, time_us),
        "payer": PAYER_PLATFORM if ending is Ending.LOST else PAYER_OWNER,
        "accepted": False,
        "cap_applied": False,
        "attempts": 0,
        "steps_allocated": 0,
        "steps": 0,
        "steps_saved": 0,
        "steps_control": 0,
        "steps_re_expansion": 0,
        "steps_search": 0,
        "steps_verification": 0,
        "prefill_tokens": 0,
        "cached_tokens": 0,
        "output_tokens": 0,
        "cost": cost,
        "cost_control": 0,
        "cost_re_expansion": 0,
        "cost_search": 0,
        "cost_verification": 0,
        "queue_s": 0.0,
        "run_s": 0.0,
        "first_byte_s": None,
        "total_s": 0.0,
    }


def _request(request: str, owner: Owner, stamp: Stamp) -> Row:
    return {
        "id": request,
        "time_us": stamp.time_us,
        "process": stamp.process,
        "price": stamp.price,
        "tenant": owner.tenant,
        "key": owner.key,
        "end_user": owner.user,
        "tags": orjson.dumps(sorted(set(owner.tags))).decode(),
    }


def _end(request: str, ending: Ending, reason: str, time_us: int) -> Row:
    return {"request": request, "time_us": time_us, "ending": ending, "reason": reason}


def cost_in(row: Row, column: str = "cost") -> int:
    """Return a cost of a row, 0 where it has none."""
    cost = row[column]
    return cost if isinstance(cost, int) else 0
