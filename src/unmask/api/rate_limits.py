"""What an answer says of its caller's limits."""

import math
from collections.abc import Mapping, Sequence

from unmask.control.quotas import tightest
from unmask.ledger.errors import LimitExceededError
from unmask.ledger.limit import LimitKind, Standing

SHOULD_RETRY = "x-should-retry"
"""Clients of the OpenAI API obey it: a 429 is tried again otherwise, and an empty purse stays empty."""


def limit_headers(standings: Sequence[Standing]) -> dict[str, str]:
    """Return the ``x-ratelimit-*`` headers of a request whose reservation is within its limits.

    Of several limits of a kind, the one with the smallest share left counts. Costs are in units of money.
    """
    headers: dict[str, str] = {}
    for standing in tightest(standings):
        kind = standing.limit.kind
        headers[f"x-ratelimit-limit-{kind}"] = standing.limit.shown(standing.limit.amount)
        headers[f"x-ratelimit-remaining-{kind}"] = standing.limit.shown(standing.remaining)
        headers[f"x-ratelimit-reset-{kind}"] = f"{math.ceil(standing.reset_s)}s"
    return headers


def refusal_headers(error: LimitExceededError) -> Mapping[str, str]:
    """Return the headers of a request that does not fit into a limit, ``retry-after`` aside."""
    kind = error.limit.kind
    left = max(error.limit.amount - error.used, 0)
    reset_s = error.retry_after_s or 0.0
    return {
        f"x-ratelimit-limit-{kind}": error.limit.shown(error.limit.amount),
        f"x-ratelimit-remaining-{kind}": error.limit.shown(left),
        f"x-ratelimit-reset-{kind}": f"{math.ceil(reset_s)}s",
    } | ({SHOULD_RETRY: "false"} if is_budget(error) else {})


def is_budget(error: LimitExceededError) -> bool:
    """Tell a budget that is spent from a rate that is too high: money, and whatever no waiting helps.

    Money that requests that run have only reserved is not spent.
    """
    return (error.limit.kind is LimitKind.COST and not error.is_held) or error.asked > error.limit.amount
