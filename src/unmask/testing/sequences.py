"""Sequences in any state of their life."""

from typing import Any

from unmask.sequence import Sequence, Submission
from unmask.testing.submissions import make_submission


def make_sequence(submission: Submission | None = None, **state: Any) -> Sequence:  # noqa: ANN401 - any field of the sequence
    """Return a sequence as it is on arrival, ``state`` aside."""
    chosen = submission or make_submission()
    fields: dict[str, Any] = {"id": 1, "arrived": 0.0, "pending": chosen.prompt}
    return Sequence(submission=chosen, **(fields | state))
