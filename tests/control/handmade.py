"""Controls of a test's choice."""

from typing import Any

from unmask.control.records import ControlRecord, FailureRecord, Label
from unmask.types import Bucket, Message, ProgressSignal, Role


def make_record(**changes: Any) -> ControlRecord:  # noqa: ANN401 - any field
    """Return a control whose exit would have been right."""
    fields: dict[str, Any] = {
        "id": "c1",
        "time": 1_700_000_000.5,
        "request_id": "req-1",
        "model": "tiny",
        "model_digest": "0123456789abcdef",
        "policy": "p" * 64,
        "task": "sort",
        "service_class": "interactive",
        "probability": 0.05,
        "bucket": Bucket.M,
        "max_steps": 8,
        "score": 2.5,
        "bin": 1,
        "features": (("digits", 3.0),),
        "steps": 8,
        "exit_steps": 3,
        "judges": ("task",),
        "passed": True,
        "exit_passed": True,
        "diverged": False,
        "messages": (Message(role=Role.USER, content="sort 3 , 1 한글"),),
        "text": "1, 3",
        "exit_text": "1, 3",
    }
    return ControlRecord(**(fields | changes))


def make_failure(**changes: Any) -> FailureRecord:  # noqa: ANN401 - any field
    """Return an early-exited answer that failed."""
    fields: dict[str, Any] = {
        "id": "f1",
        "time": 1_700_000_000.5,
        "request_id": "req-1",
        "model": "tiny",
        "model_digest": "0123456789abcdef",
        "policy": "p" * 64,
        "task": "sort",
        "service_class": "interactive",
        "score": None,
        "bin": None,
        "steps": 3,
        "signals": ((ProgressSignal.FLIPS, 0.0), (ProgressSignal.CONFIDENCE_MIN, 0.95)),
        "judges": ("task",),
    }
    return FailureRecord(**(fields | changes))


def make_label(**changes: Any) -> Label:  # noqa: ANN401 - any field
    """Return a person's word that both texts of a control are right."""
    fields: dict[str, Any] = {"control": "c1", "time": 0.0, "by": "kim", "passed": True, "exit_passed": True}
    return Label(**(fields | changes))
