"""Submissions of which a test names only what it is about."""

from typing import Any

from unmask.sequence import Submission
from unmask.types import StepBudget


def make_submission(
    prompt: tuple[int, ...] = (5, 6, 7),
    *,
    max_steps: int = 4,
    max_total_steps: int | None = None,
    **changes: Any,  # noqa: ANN401 - any field of the submission
) -> Submission:
    """Return a submission of one short canvas; the total budget allows every canvas its own."""
    fields: dict[str, Any] = {"max_tokens": 8, "canvas_length": 8, "context_length": 256}
    fields |= changes
    canvases = -(-fields["max_tokens"] // fields["canvas_length"])
    total = max_steps * canvases if max_total_steps is None else max_total_steps
    return Submission(prompt=prompt, budget=StepBudget(max_steps=max_steps, max_total_steps=total), **fields)
