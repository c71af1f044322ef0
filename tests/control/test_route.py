"""Behaviour of deciding which of two models a request goes to first."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.control.values import make_features
from unmask.backend import Lever, Request
from unmask.control.route import Decision, Route, RouteReason, logistic
from unmask.control.routing import Routes, is_running
from unmask.control.sources import Classified
from unmask.load import EngineState
from unmask.testing.builders import make_model
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.routes import EASY, HARD, LARGE, SMALL, make_fit, make_route, make_task_route
from unmask.types import Message, Precision, Role

SIMPLE, COMPLEX = make_features(digits=2), make_features(digits=9)


def decided(route: Route, features: Any = SIMPLE, *, can_escalate: bool = True, **changes: Any) -> Decision:  # noqa: ANN401
    """Return where a request goes."""
    return route.decide(features, can_escalate=can_escalate, **changes)


def test_what_is_likely_enough_goes_to_the_small_model() -> None:
    """By the fit's threshold, and the decision tells the probability it rests on."""
    likely, unlikely = decided(make_route()), decided(make_route(), COMPLEX)

    assert (likely.is_small, likely.reason) == (True, RouteReason.LIKELY)
    assert likely.probability == pytest.approx(EASY)
    assert (unlikely.is_small, unlikely.reason) == (False, RouteReason.UNLIKELY)
    assert unlikely.probability == pytest.approx(HARD)


def test_an_answer_that_is_the_last_has_a_threshold_of_its_own() -> None:
    """Where nothing escalates a failed answer, the fit may allow nothing, or only what is likelier."""
    fit = make_fit(tasks={"sort": make_task_route(threshold=0.5, threshold_alone=0.95)})

    assert decided(make_route(), can_escalate=False).reason is RouteReason.NEVER
    assert decided(make_route(fit=fit), can_escalate=True).is_small
    assert decided(make_route(fit=fit), can_escalate=False).reason is RouteReason.UNLIKELY


@pytest.mark.parametrize(
    ("features", "confidence"),
    [
        pytest.param(make_features("extract", digits=2), 1.0, id="task type"),
        pytest.param(make_features(digits=2, hangul=5_000.0), 1.0, id="range"),
        pytest.param(SIMPLE, 0.5, id="unsure of the type"),
    ],
)
def test_what_is_not_known_goes_to_the_large_model(features: Any, confidence: float) -> None:  # noqa: ANN401
    """A task type without a fit, a feature far outside of what was seen, or a task type that is a guess."""
    assert decided(make_route(), features, task_confidence=confidence).reason is RouteReason.UNKNOWN


def test_a_threshold_of_zero_tries_the_small_model_on_everything() -> None:
    """Also without a fit, and on what is not known; any other threshold needs a probability."""
    for fit in (None, make_fit()):
        route = make_route(fit=fit, threshold=0.0)
        assert decided(route, COMPLEX).is_small
        assert decided(route, make_features("extract"), can_escalate=False).is_small
        assert decided(replace(route, threshold=0.01), make_features("extract")).reason is RouteReason.UNKNOWN


@given(st.floats(0, 1), st.floats(0, 1), st.integers(0, 20))
def test_a_lower_threshold_never_sends_fewer_requests_to_the_small_model(a: float, b: float, digits: int) -> None:
    """Whatever the request."""
    strict, lax = (
        decided(make_route(threshold=threshold), make_features(digits=digits)).is_small
        for threshold in sorted((a, b), reverse=True)
    )

    assert lax or not strict


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_any_log_odds_are_a_probability(log_odds: float) -> None:
    """However large, and as likely as not at 0."""
    assert 0 <= logistic(log_odds) <= 1
    assert logistic(0.0) == 0.5


def test_a_route_takes_what_both_models_take() -> None:
    """Its limits are the narrower ones, so that a valid request is valid for whichever serves it."""
    small = make_model(
        "nano",
        context_length=128,
        canvas_lengths=(8, 32),
        default_canvas_length=32,
        max_steps=16,
        default_steps=8,
        default_max_tokens=32,
        precision=Precision.BFLOAT16,
        levers=(Lever.BUDGET,),
    )
    model = make_route(small=small).model

    assert (model.name, model.parameters, model.precision) == ("auto", None, None)
    assert (model.context_length, model.canvas_lengths, model.default_canvas_length) == (128, (8, 32), 8)
    assert (model.max_steps, model.default_steps, model.default_max_tokens) == (16, 8, 32)
    assert (model.levers, model.tasks) == ((Lever.BUDGET,), LARGE.tasks)


def test_a_route_is_named_by_all_that_decides_on_its_answers() -> None:
    """Weights of both models, the fit and the threshold; its name changes nothing."""
    route = make_route()
    others = (
        make_route(small=replace(SMALL, digest="other")),
        make_route(large=replace(LARGE, digest="other")),
        make_route(fit=make_fit(digest="other")),
        make_route(threshold=0.7),
        make_route(small=None),
    )

    assert len({route.digest, *(other.digest for other in others)}) == 6
    assert make_route(name="smart").digest == route.digest


def test_a_small_model_that_is_not_there_is_told_of() -> None:
    """Not loaded, or never to be tried: in both cases the large one serves all, and the notes say so."""
    never = make_fit(tasks={"sort": make_task_route(threshold=None)})

    assert make_route().note is None
    assert "nano is not loaded" in (make_route(small=None).note or "")
    assert "not shown to be good enough" in (make_route(fit=never).note or "")
    assert make_route(fit=never, threshold=0.0).note is None


def test_a_model_that_makes_no_progress_is_not_tried() -> None:
    """Its engine says so; the request goes to the large one, and the decision tells."""
    request = Request(model="auto", messages=(Message(role=Role.USER, content="정렬 3 , 1"),))
    reasons = []
    for state in EngineState:
        backend = FakeBackend(state=state)
        routes = Routes((make_route(),), is_running=lambda name, backend=backend: is_running(backend, name))  # type: ignore[misc]
        route = routes.named("auto")
        assert route is not None
        found = routes.decide(route, request, Classified(task="sort"), None, can_escalate=True)
        reasons.append(found.reason)

    assert reasons == [RouteReason.LIKELY, RouteReason.UNAVAILABLE, RouteReason.UNAVAILABLE]
