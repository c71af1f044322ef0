"""Behaviour of `unmask.cluster.call`."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cluster.fakes import carried
from tests.replicas.prompts import make_request
from unmask.backend import DoneEvent, Timing
from unmask.cluster.call import aged, dated, make_call, request_of
from unmask.control.check import make_check
from unmask.errors import (
    ContextLengthError,
    DeadlineError,
    InvalidRequestError,
    QueueFullError,
    RetryLaterError,
    UnknownModelError,
    UnmaskError,
)
from unmask.tasks.formats import JsonSchema
from unmask.tasks.patterns import Pattern
from unmask.tasks.registry import all_tasks
from unmask.testing.builders import make_generation
from unmask.types import Message, Role

TIMES = st.floats(min_value=0, max_value=1e6)


@given(here=TIMES, there=TIMES, age=st.floats(min_value=0, max_value=1e4))
def test_place_in_line_survives_another_clock(here: float, there: float, age: float) -> None:
    """A request is as old on the engine's machine as on the gateway's, whatever their clocks say."""
    request = replace(make_request("안녕"), arrived=here - age)
    found = request_of(carried(make_call(request, here)), there, lambda _: None)

    assert found.arrived is not None
    assert there - found.arrived == pytest.approx(age, abs=1e-6)


@given(here=TIMES, there=TIMES, took=st.floats(min_value=0, max_value=1e4))
def test_times_of_an_answer_are_the_gateways(here: float, there: float, took: float) -> None:
    """An answer that took a while took as long by the gateway's clock, and ended just now."""
    timing = Timing(arrived=there - took, started=there - took, finished=there)
    event = dated(carried(aged(DoneEvent(generation=make_generation(timing=timing)), there)), here)

    assert isinstance(event, DoneEvent)
    assert event.generation.timing.finished == pytest.approx(here, abs=1e-6)
    assert event.generation.timing.arrived == pytest.approx(here - took, abs=1e-6)


@pytest.mark.parametrize(
    "error",
    [
        UnmaskError("아무 말", param="model"),
        InvalidRequestError("temperature", 3, "0 to 2", "Lower it."),
        ContextLengthError(700, 100, 768),
        UnknownModelError("없음", ["tiny"]),
        QueueFullError("full", retry_after_s=2.5),
        DeadlineError("late"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_arrive_whole(error: UnmaskError) -> None:
    """A refusal says the same at the gateway as at the engine: class, words, field and pause."""
    found = carried(error)

    assert type(found) is type(error)
    assert (found.message, found.param) == (error.message, error.param)
    if isinstance(error, RetryLaterError):
        assert isinstance(found, RetryLaterError)
        assert found.retry_after_s == error.retry_after_s


def test_checks_of_a_request_go_along() -> None:
    """What an exit rule asks of drafts is asked where the engine runs, and judges alike."""
    messages = (Message(role=Role.USER, content="add 12 + 30"),)
    schema = JsonSchema({"type": "object", "required": ["이름"]})
    for task in (None, *all_tasks().values()):
        check = make_check(messages, task, schema, (Pattern('[가-힣{}": ]+'),))
        assert check is not None
        found = carried(check)
        for text in ('{"이름": "하나"}', "{}", "42"):
            assert found(text) == check(text)
