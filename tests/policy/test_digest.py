"""Behaviour of `unmask.policy.digest`."""

import hashlib
import json
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.policy.drawn import EXAMPLES, policies
from unmask.config.strict_yaml import load_yaml
from unmask.policy.digest import canonical_policy, policy_digest
from unmask.policy.file import parse_policy, policy_text
from unmask.policy.policy import Policy
from unmask.testing.budget_policies import make_policy


@settings(max_examples=EXAMPLES)
@given(policies(), st.randoms(use_true_random=False))
def test_formatting_makes_no_difference(policy: Policy, rng: Any) -> None:  # noqa: ANN401 - a random.Random
    """Order, comments, quotes and flow style change the text and not the digest."""
    digest = policy_digest(policy)
    text = policy_text(policy)
    flow = json.dumps(_shuffled(load_yaml(text), rng), indent=3)

    assert policy_digest(parse_policy(text.encode())) == digest
    assert policy_digest(parse_policy(f"# a comment\n\n{text}\n# another".encode())) == digest
    assert policy_digest(parse_policy(flow.encode())) == digest


@settings(max_examples=EXAMPLES)
@given(policies(), policies())
def test_digest_tells_policies_apart(one: Policy, other: Policy) -> None:
    """Two policies share a digest where they say the same, and nowhere else."""
    same = parse_policy(canonical_policy(one)) == parse_policy(canonical_policy(other))

    assert (policy_digest(one) == policy_digest(other)) is same


@settings(max_examples=EXAMPLES)
@given(policies())
def test_digest_is_of_the_stored_bytes(policy: Policy) -> None:
    """Anyone can verify a stored policy with ``sha256sum``, and reading it back changes nothing."""
    content = canonical_policy(policy)

    assert policy_digest(policy) == hashlib.sha256(content).hexdigest()
    assert canonical_policy(parse_policy(content)) == content


def test_zero_has_one_sign() -> None:
    """-0.0 equals 0.0, so the policies are the same."""
    plain = make_policy()
    negative = replace(plain, tasks=tuple(replace(task, shift=-0.0) for task in plain.tasks))

    assert negative == plain
    assert policy_digest(negative) == policy_digest(plain)


def test_digest_lasts() -> None:
    """A digest in someone's log means the same policy in every version."""
    assert policy_digest(make_policy()) == "4fc1d3acfe1791731d0f59ebb9a03751d714a9c47e5843e3200a170490ac3e6c"


def _shuffled(value: Any, rng: Any) -> Any:  # noqa: ANN401 - a document
    if isinstance(value, dict):
        names = list(value)
        rng.shuffle(names)
        return {name: _shuffled(value[name], rng) for name in names}
    return value
