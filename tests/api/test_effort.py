"""Behaviour of `unmask.api.effort`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.api.effort import BUCKETS, SHARES, Effort, bucket_steps
from unmask.testing.builders import make_model
from unmask.types import Bucket


def test_every_word_has_a_bucket_and_every_bucket_a_share() -> None:
    """No word is without a budget, and more effort is never less."""
    shares = [SHARES[BUCKETS[effort]] for effort in Effort]

    assert shares == sorted(shares)
    assert set(SHARES) == set(Bucket)
    assert set(BUCKETS.values()) == set(Bucket)


@pytest.mark.parametrize(("default", "steps"), [(16, [2, 4, 8, 12, 16]), (10, [2, 3, 5, 8, 10]), (1, [1, 1, 1, 1, 1])])
def test_share_is_rounded_up(default: int, steps: list[int]) -> None:
    """A bucket is never empty."""
    model = make_model(default_steps=default)

    assert [bucket_steps(bucket, model, None) for bucket in Bucket] == steps


@given(default=st.integers(1, 4096), canvas_length=st.none() | st.integers(1, 4096), bucket=st.sampled_from(Bucket))
def test_bucket_is_within_the_default(default: int, canvas_length: int | None, bucket: Bucket) -> None:
    """From one step to what the model takes for such a canvas, exactly in whole numbers."""
    model = make_model(default_steps=default)
    whole = model.default_steps_of(canvas_length)
    steps = bucket_steps(bucket, model, canvas_length)

    assert 1 <= steps <= whole
    assert (steps - 1) < SHARES[bucket] * whole <= steps
