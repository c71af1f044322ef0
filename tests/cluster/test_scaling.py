"""Behaviour of `unmask.cluster.scaling`."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from unmask.cluster.scaling import CALM_S, Scaler, ScaleTerms, drain_time
from unmask.load import ModelLoad
from unmask.service import ClassWork
from unmask.testing.fake_backend import FakeBackend

TERMS = ScaleTerms(least=1, most=4, drain_s=5.0)


def loads(drain_s: float) -> tuple[ModelLoad, ...]:
    """Return what an engine says that needs so long."""
    work = ClassWork(service_class="batch", forwards=10.0, drain_s=drain_s, slack_s=60.0)
    return tuple(replace(load, works=(work,)) for load in FakeBackend().load())


def test_work_beyond_the_time_brings_engines_at_once() -> None:
    """Twelve seconds of work in five take three."""
    assert Scaler(TERMS).wanted(0.0, 1, (loads(12.0),)) == 3


def test_never_more_than_the_most() -> None:
    """However much work there is."""
    assert Scaler(TERMS).wanted(0.0, 1, (loads(1_000.0),)) == 4


def test_calm_lets_one_go_after_a_while() -> None:
    """Not at once, and one at a time."""
    scaler = Scaler(TERMS)
    found = [scaler.wanted(now, 3, (loads(0.0),)) for now in (0.0, CALM_S - 1, CALM_S)]

    assert found == [3, 3, 2]


def test_work_in_between_begins_the_calm_anew() -> None:
    """A burst keeps what is there."""
    scaler = Scaler(TERMS)
    found = [
        scaler.wanted(now, 2, (loads(drain_s),))
        for now, drain_s in ((0.0, 0.0), (CALM_S - 1, 9.0), (CALM_S, 0.0), (2 * CALM_S - 1, 0.0), (2 * CALM_S, 0.0))
    ]

    assert found == [2, 2, 2, 2, 1]


def test_an_engine_that_does_not_tell_needs_no_other() -> None:
    """One that has seen too little to predict counts as idle."""
    assert drain_time(FakeBackend().load()) == 0.0


@given(
    count=st.integers(1, 4),
    turns=st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)), max_size=20),
)
def test_always_within_bounds(count: int, turns: list[tuple[float, float]]) -> None:
    """Whatever is said, there are neither too few nor too many, and never more than one goes at a time."""
    scaler, now = Scaler(TERMS), 0.0
    for passed, drain_s in turns:
        now += passed
        wanted = scaler.wanted(now, count, (loads(drain_s),))
        assert max(TERMS.least, count - 1) <= wanted <= TERMS.most
        count = wanted
