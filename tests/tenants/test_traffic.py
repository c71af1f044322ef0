"""Behaviour of `unmask.tenants.traffic`."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.tenants.traffic import FEATURES, HOUR_S, Served, hours_of


def served(begun: float, seconds: float = 1.0, **changes: object) -> Served:
    """Return a request of acme's."""
    fields = {"tenant": "acme", "service_class": "interactive", "prompt_tokens": 10, "steps": 8}
    return Served(begun=begun, seconds=seconds, **(fields | changes))  # type: ignore[arg-type]


def features(*requests: Served) -> dict[str, float]:
    """Return what the one hour of some requests is like, in plain numbers."""
    (hour,) = hours_of(requests)
    return {name: math.expm1(value) for name, value in zip(FEATURES, hour.features, strict=True)}


def test_an_hour_is_described() -> None:
    """How many, how many at once, how long."""
    found = features(served(0, 5), served(1, 1, prompt_tokens=30, steps=2), served(2, 1), served(3, 9))

    assert found == pytest.approx({"requests": 4, "at_once": 2, "prompt_tokens": 15, "steps": 6.5})


def test_one_after_the_other_is_not_at_once() -> None:
    """A request that begins when another ends does not meet it."""
    assert features(*(served(second) for second in range(100)))["at_once"] == pytest.approx(1)
    assert features(*(served(0, 50) for _ in range(100)))["at_once"] == pytest.approx(100)


def test_hours_tenants_and_classes_are_apart() -> None:
    """Each has an hour of its own; a request counts in the hour that it arrives in."""
    hours = hours_of(
        [
            served(HOUR_S - 1, 100),
            served(HOUR_S),
            served(HOUR_S + 1, tenant="globex"),
            served(HOUR_S + 2, service_class="batch"),
        ]
    )

    assert sorted((hour.tenant, hour.service_class) for hour in hours) == [
        ("acme", "batch"),
        ("acme", "interactive"),
        ("acme", "interactive"),
        ("globex", "interactive"),
    ]
    assert hours_of([]) == ()


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(1, 50)), min_size=1, max_size=30), st.randoms())
def test_order_does_not_matter(times: list[tuple[int, int]], random: object) -> None:
    """The books may give requests in any order; at once is the most that any moment has."""
    requests = [served(begun, seconds) for begun, seconds in times]
    most = max(sum(begun <= at < begun + seconds for begun, seconds in times) for at, _ in times)
    shuffled = requests.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    assert features(*requests)["at_once"] == pytest.approx(most)
    assert features(*shuffled) == pytest.approx(features(*requests))
