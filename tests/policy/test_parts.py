"""Behaviour of `unmask.policy.parts`."""

import hashlib

import pytest

from unmask.errors import ConfigError
from unmask.policy.parts import LARGEST_PART, canonical_part, parts_of
from unmask.policy.policy import BudgetMode
from unmask.strategy import StrategyChoice
from unmask.testing.budget_policies import make_policy, make_task_policy

DIGEST = hashlib.sha256(b'{"a":1,"b":[2.5]}').hexdigest()


@pytest.mark.parametrize("own", ["", f', "digest": "{DIGEST}"', f', "digest": "{DIGEST[:16]}"'])
def test_part_is_named_by_what_it_says(own: str) -> None:
    """However it is written, and whether it has its own digest in it or not."""
    digest, stored = canonical_part(f'{{"b": [2.5], "a": 1{own}}}'.encode())

    assert digest == DIGEST
    assert canonical_part(stored) == (digest, stored)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no JSON"),
        (b"\xff", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[1]", "allowed: a JSON object"),
        (b'{"a":1,"digest":"0123456789abcdef"}', "digest is"),
        (f'{{"a":1,"b":[2.5],"digest":"{DIGEST[:15]}"}}'.encode(), "16 of its first digits"),
        (b'{"a":1,"digest":1}', "digest is 1"),
        (b" " * (LARGEST_PART + 1), "larger"),
    ],
)
def test_what_is_no_part_is_refused(content: bytes, said: str) -> None:
    """No object, too large, or changed since it was named."""
    with pytest.raises(ConfigError, match=said):
        canonical_part(content)


def test_parts_of_a_policy_are_named_once() -> None:
    """The estimator and every finality model."""
    tasks = (
        make_task_policy(),
        make_task_policy("sort", strategy=StrategyChoice(), finality="f" * 16, mode=BudgetMode.ADAPTIVE),
        make_task_policy("latin", strategy=StrategyChoice(), finality="f" * 16),
    )

    assert parts_of(make_policy(difficulty="d" * 16, tasks=tasks)) == ("d" * 16, "f" * 16)
    assert parts_of(make_policy()) == ()
