"""Comparisons made by hand."""

from typing import Any

from unmask.tune.paired_run import Arm, PairedRecord, PairedSettings


def make_settings(**changes: Any) -> PairedSettings:  # noqa: ANN401 - any field
    """Return the settings of a small comparison."""
    fields: dict[str, Any] = {
        "model": "tiny",
        "model_digest": "0123456789abcdef",
        "before": None,
        "after": "a" * 64,
        "tasks": ("sort",),
        "items": 3,
        "seed": 0,
        "in_flight": 2,
    }
    return PairedSettings(**(fields | changes))


def make_paired(arm: Arm = Arm.BEFORE, item: str = "i0", **changes: Any) -> PairedRecord:  # noqa: ANN401 - any field
    """Return a right answer in eight steps, without exit."""
    fields: dict[str, Any] = {"task": "sort", "steps": 8, "seconds": 0.5, "correct": True, "misjudged": None}
    return PairedRecord(arm=arm, item=item, **(fields | changes))
