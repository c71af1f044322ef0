"""Behaviour of `unmask.api.rate_limits`, and of the answers to requests beyond a limit."""

import json

import pytest
from starlette.responses import Response

from unmask.api.rate_limits import limit_headers
from unmask.api.responses import error_response
from unmask.ledger.errors import LimitExceededError
from unmask.ledger.limit import Limit, LimitKind, Standing


def limit(kind: LimitKind, amount: int, window_s: int = 60) -> Limit:
    """Return a limit of a tenant."""
    return Limit(
        scope="tenant:acme", kind=kind, window_s=0 if kind is LimitKind.CONCURRENCY else window_s, amount=amount
    )


def refusal(kind: LimitKind, *, asked: int = 1, retry_after_s: float | None = 11.2) -> Response:
    """Return the answer to a request that finds 8 of 10 used."""
    error = LimitExceededError(limit(kind, 10), used=8, asked=asked, retry_after_s=retry_after_s)
    return error_response(error)


def error_of(response: Response) -> tuple[str, str]:
    """Return type and code."""
    error = json.loads(bytes(response.body))["error"]
    return error["type"], error["code"]


@pytest.mark.parametrize("kind", [LimitKind.REQUESTS, LimitKind.STEPS, LimitKind.CONCURRENCY])
def test_a_rate_that_is_too_high_says_when_to_come_back(kind: LimitKind) -> None:
    """Clients of the OpenAI API wait so long and try again."""
    answer = refusal(kind, asked=3)

    assert answer.status_code == 429
    assert error_of(answer) == ("rate_limit_error", "rate_limit_exceeded")
    assert (answer.headers["retry-after"], answer.headers["retry-after-ms"]) == ("12", "11200")
    assert "x-should-retry" not in answer.headers
    assert answer.headers[f"x-ratelimit-limit-{kind}"] == "10"
    assert answer.headers[f"x-ratelimit-remaining-{kind}"] == "2"
    assert answer.headers[f"x-ratelimit-reset-{kind}"] == "12s"


def test_a_budget_that_is_spent_is_not_tried_again() -> None:
    """The header is the one that clients of the OpenAI API obey."""
    answer = refusal(LimitKind.COST, asked=3)

    assert answer.status_code == 429
    assert error_of(answer) == ("insufficient_quota", "insufficient_quota")
    assert answer.headers["x-should-retry"] == "false"
    assert answer.headers["x-ratelimit-limit-cost"] == "0.00001"


def test_a_budget_that_is_only_reserved_is_tried_again() -> None:
    """Requests that run have the money set aside for their worst case, and give nearly all of it back."""
    error = LimitExceededError(limit(LimitKind.COST, 10), used=8, asked=3, retry_after_s=1.0, is_held=True)
    answer = error_response(error)

    assert error_of(answer) == ("rate_limit_error", "rate_limit_exceeded")
    assert answer.headers["retry-after"] == "1"
    assert "x-should-retry" not in answer.headers


def test_a_refusal_names_amounts_as_limits_are_written() -> None:
    """Money in its units and windows by their unit, and the fields that ask for less."""
    daily = limit(LimitKind.COST, 2_500_000, 86_400)
    error = LimitExceededError(daily, used=0, asked=3_000_000, retry_after_s=None)

    assert str(error) == (
        "cost of tenant:acme: 0 used or reserved and 3 asked for, allowed: 2.5 in 1d. "
        "Ask for less at once (max_tokens, n, diffusion.max_total_steps), or have the limit raised."
    )


@pytest.mark.parametrize("kind", LimitKind)
def test_what_never_fits_is_not_tried_again(kind: LimitKind) -> None:
    """A request larger than the whole limit would be refused for ever."""
    answer = refusal(kind, asked=11, retry_after_s=None)

    assert error_of(answer) == ("insufficient_quota", "insufficient_quota")
    assert answer.headers["x-should-retry"] == "false"
    assert "retry-after" not in answer.headers


def test_answers_say_how_limits_stand() -> None:
    """Of each kind the one with the smallest share left, money in units."""
    standings = (
        Standing(limit=limit(LimitKind.REQUESTS, 100), used=1, reset_s=30.5),
        Standing(limit=limit(LimitKind.REQUESTS, 10, 3_600), used=9, reset_s=600),
        Standing(limit=limit(LimitKind.COST, 2_500_000, 86_400), used=3_000_000, reset_s=5),
        Standing(limit=limit(LimitKind.CONCURRENCY, 4), used=1, reset_s=0),
    )

    assert limit_headers(standings) == {
        "x-ratelimit-limit-requests": "10",
        "x-ratelimit-remaining-requests": "1",
        "x-ratelimit-reset-requests": "600s",
        "x-ratelimit-limit-cost": "2.5",
        "x-ratelimit-remaining-cost": "0",
        "x-ratelimit-reset-cost": "5s",
        "x-ratelimit-limit-concurrency": "4",
        "x-ratelimit-remaining-concurrency": "3",
        "x-ratelimit-reset-concurrency": "0s",
    }
    assert limit_headers(()) == {}
