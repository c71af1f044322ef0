"""Behaviour of `unmask.remote.expecting`: what an answer may be at most."""

from dataclasses import replace
from typing import Any

import pytest

from tests.remote.remotes import make_request, make_settings
from unmask.backend import Lever
from unmask.remote.answer import AnswerReader, Expected
from unmask.remote.expecting import expected_of
from unmask.remote.settings import Bounds
from unmask.testing.builders import make_model
from unmask.testing.fake_upstream import chunk, event
from unmask.types import StepBudget

MODEL = make_model("far", default_canvas_length=16, default_steps=10, default_max_tokens=40)


def expected(levers: tuple[Lever, ...] = (Lever.BUDGET,), **changes: Any) -> Expected:  # noqa: ANN401 - any field
    """Return what is expected of an answer to a request."""
    settings = make_settings("http://h", bounds=Bounds(base_bytes=100, bytes_per_token=10))
    return expected_of(make_request(**changes), replace(MODEL, levers=levers), settings, "u")


@pytest.mark.parametrize(
    ("changes", "most"),
    [
        ({"max_tokens": 33}, 3 * 10),
        ({"max_tokens": None}, 3 * 10),
        ({"max_tokens": 32, "budget": StepBudget(max_steps=4)}, 2 * 4),
        ({"max_tokens": 32, "budget": StepBudget(max_steps=4, max_total_steps=5)}, 5),
        ({"max_tokens": 32, "canvas_length": 8}, 4 * 8),
    ],
)
def test_most_steps(changes: dict[str, Any], most: int) -> None:
    """Every canvas takes its budget, or the model's; all of them never more than the total."""
    assert expected(**changes).steps == most
    assert expected((), **changes).steps is None


def test_most_bytes_and_prompt() -> None:
    """The stream is bounded by its tokens, the prompt by its bytes and the marks around it."""
    found = expected(max_tokens=5, text="한글")

    assert (found.most_bytes, found.max_tokens, found.prompt_tokens) == (150, 5, 6 + 16)


@pytest.mark.parametrize(("used", "allocated", "is_known"), [(8, 8, True), (9, 8, False), (8, 9, False)])
def test_steps_above_the_budget_are_not_believed(used: int, allocated: int, is_known: bool) -> None:
    """They would be booked to somebody."""
    steps = {"steps_used": used, "steps_allocated": allocated, "canvases": 2, "exit_reason": "max_steps"}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "diffusion": steps}
    reader = AnswerReader(replace(expected(max_tokens=32, budget=StepBudget(max_steps=4)), most_bytes=10_000))
    list(reader.feed(chunk("2", finish_reason="stop") + event({"usage": usage})))
    found = reader.usage()

    assert (found.steps_known, found.steps_used) == (is_known, used if is_known else 0)
