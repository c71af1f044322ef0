"""How quality follows load."""

from dataclasses import dataclass, replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.control.quality import (
    BLIND_LEVEL,
    DEFAULT_FLOOR,
    HIGH,
    LEAST_DWELL_S,
    LEVELS,
    LOW,
    MOST_CLIMBS,
    LevelState,
    blind,
    dwell_of,
    looked,
)
from unmask.search.plan import SearchPlan
from unmask.service import SearchMethod

LOOKS = st.lists(st.tuples(st.floats(0.01, 20), st.floats(0, 10)), max_size=60)
"""Seconds since the look before, and the pressure."""


def levels_of(looks: list[tuple[float, float]], *, dwell_s: float = 5.0, lowest: int = DEFAULT_FLOOR) -> list[int]:
    """Return the level after each of some looks."""
    state, now, found = LevelState(), 0.0, []
    for seconds, pressure in looks:
        now += seconds
        state = looked(state, pressure, now=now, dwell_s=dwell_s, lowest=lowest)
        found.append(state.level)
    return found


def flips(levels: list[int]) -> int:
    """Return how often the direction turns."""
    moves = [after - before for before, after in zip([0, *levels], levels, strict=False) if after != before]
    return sum((first > 0) != (second > 0) for first, second in pairwise(moves))


def square_wave(low: float, high: float, half_s: float, seconds: float) -> list[tuple[float, float]]:
    """Return looks four times a second at a pressure that jumps between two."""
    count = int(seconds * 4)
    return [(0.25, high if int(number * 0.25 / half_s) % 2 else low) for number in range(count)]


@given(looks=LOOKS, lowest=st.integers(0, 4))
def test_a_level_never_leaves_the_ladder_nor_its_floor(looks: list[tuple[float, float]], lowest: int) -> None:
    """Whatever the load."""
    assert all(0 <= level <= lowest for level in levels_of(looks, lowest=lowest))


@given(looks=LOOKS)
def test_it_goes_up_by_one_and_not_before_a_dwell_time_of_calm(looks: list[tuple[float, float]]) -> None:
    """Every look that finds it higher comes at least as many dwell times after the last pressure as it rose levels."""
    state, now, pressed_at = LevelState(), 0.0, 0.0
    for seconds, pressure in looks:
        now += seconds
        before, state = state, looked(state, pressure, now=now, dwell_s=5.0, lowest=4)
        if pressure >= LOW:
            pressed_at = now
            assert state.level >= before.level
        risen = before.level - state.level
        assert risen <= 0 or now - pressed_at >= 5.0 * risen


@given(looks=LOOKS)
def test_between_the_thresholds_nothing_moves(looks: list[tuple[float, float]]) -> None:
    """Whatever came before."""
    state, now = LevelState(), 0.0
    for seconds, pressure in looks:
        now += seconds
        state = looked(state, pressure, now=now, dwell_s=5.0, lowest=4)
    for pressure in (LOW, (LOW + HIGH) / 2, HIGH):
        assert looked(state, pressure, now=now + 1_000, dwell_s=5.0, lowest=4).level == state.level


@given(looks=LOOKS, calm=st.floats(0.1, 200), looks_between=st.integers(1, 20))
def test_looks_between_change_nothing_of_a_calm(
    looks: list[tuple[float, float]], calm: float, looks_between: int
) -> None:
    """Nobody has to look while nothing happens: one look at the end finds the same level."""
    state, now = LevelState(), 0.0
    for seconds, pressure in [*looks, (0.01, 0.0)]:
        now += seconds
        state = looked(state, pressure, now=now, dwell_s=5.0, lowest=4)
    often = state
    for number in range(1, looks_between + 1):
        often = looked(often, 0.1, now=now + calm * number / looks_between, dwell_s=5.0, lowest=4)

    assert often == looked(state, 0.1, now=now + calm, dwell_s=5.0, lowest=4)


@pytest.mark.parametrize(
    ("pressure", "level"), [(0.79, 0), (0.81, 1), (1.59, 1), (1.61, 2), (3.3, 3), (6.5, 4), (1e9, 4), (float("inf"), 4)]
)
def test_a_step_of_load_is_answered_at_once_by_as_many_levels_as_it_takes(pressure: float, level: int) -> None:
    """Each level halves what a search takes: twice as much pressure is one level more."""
    assert levels_of([(1.0, pressure)], lowest=4) == [level]


def test_what_was_answered_is_not_answered_again_until_the_dwell_time_is_over() -> None:
    """The work of before is still queued; only pressure that grows by a quarter asks for more."""
    settling = [(1.0, 0.9), (1.0, 1.1), (1.0, 1.0), (1.0, 1.15), (1.0, 1.4)]

    assert levels_of(settling) == [1, 1, 1, 2, 2]
    assert levels_of([(1.0, 0.9), (1.0, 5.0)]) == [1, 3]
    assert levels_of([(1.0, 0.9), (5.0, 0.9)]) == [1, 2]


@pytest.mark.parametrize("half_s", [0.25, 1.0, 4.0])
@pytest.mark.parametrize(("low", "high"), [(0.79, 0.81), (0.4, 0.9), (0.0, 3.0)])
def test_a_square_wave_shorter_than_the_dwell_time_never_turns_it(low: float, high: float, half_s: float) -> None:
    """Ten minutes around the threshold, or across both: it goes down and stays."""
    assert flips(levels_of(square_wave(low, high, half_s, 600))) == 0


@pytest.mark.parametrize("half_s", [5.5, 7.0, 15.0, 30.0])
def test_a_slow_square_wave_turns_it_ever_less_often(half_s: float) -> None:
    """An hour across both thresholds: what cannot be kept is tried three times, and then no more."""
    levels = levels_of(square_wave(0.2, 0.9, half_s, 3_600))

    assert flips(levels) <= 2 * MOST_CLIMBS
    assert len(set(levels[len(levels) // 2 :])) == 1


def test_saturation_leaves_nothing_to_work_off() -> None:
    """An hour of overload is over as soon as a minute of it: one dwell time of calm a level."""
    calm = [(0.5, 0.1)] * 60
    short, long = (levels_of([(1.0, 50.0)] * seconds + calm)[-60:] for seconds in (60, 3_600))

    assert short == long
    assert [long.index(level) * 0.5 for level in (2, 1, 0)] == [5.0, 10.0, 15.0]


@dataclass(slots=True)
class Queue:
    """Work that arrives at a rate by the level of the requests, and leaves at one unit a second."""

    work: float = 0.0

    def goes_on(self, seconds: float, offered: float, level: int) -> float:
        """Return the pressure of a slack of ten seconds; level 0 offers all, each further one half of it."""
        self.work = max(0.0, self.work + seconds * (offered / 2**level - 1.0))
        return self.work / 10


def closed_loop(offered: list[float], *, lowest: int = DEFAULT_FLOOR) -> tuple[list[int], list[float]]:
    """Return levels and pressures, four looks a second, of loads offered for a quarter of a second each."""
    state, queue, levels, pressures = LevelState(), Queue(), [], []
    for number, rate in enumerate(offered):
        pressures.append(queue.goes_on(0.25, rate, state.level))
        state = looked(state, pressures[-1], now=number * 0.25, dwell_s=5.0, lowest=lowest)
        levels.append(state.level)
    return levels, pressures


def test_load_that_one_level_more_would_overload_does_not_make_it_swing() -> None:
    """Half an hour of 1.3 times what all of the quality can be had at: few tries to go up, and nobody late by them."""
    levels, pressures = closed_loop([1.3] * 7_200)

    assert flips(levels) <= 2 * (1_800 / (2**MOST_CLIMBS * LEAST_DWELL_S) + MOST_CLIMBS)
    assert max(pressures) < 1.0


def test_an_overload_is_brought_under_and_all_of_the_quality_comes_back() -> None:
    """Six times what the machine can do for a minute, then a tenth: the wait stays within 1.5 of the slack."""
    levels, pressures = closed_loop([6.0] * 240 + [0.1] * 480)

    assert max(levels) == DEFAULT_FLOOR
    assert max(pressures) < 1.5
    assert pressures[239] < HIGH
    assert levels[-1] == 0


@given(looks=LOOKS, lowest=st.integers(0, 4))
def test_without_a_signal_it_goes_down_to_a_bound_and_never_up(looks: list[tuple[float, float]], lowest: int) -> None:
    """A level lower than that is kept; a floor above it holds."""
    state, now = LevelState(), 0.0
    for seconds, pressure in looks:
        now += seconds
        state = looked(state, pressure, now=now, dwell_s=5.0, lowest=lowest)
    lost = blind(state, now=now, lowest=lowest)
    later = blind(lost, now=now + 1_000, lowest=lowest)

    assert lost.level == later.level == max(state.level, min(BLIND_LEVEL, lowest))
    # Calm is counted from when the signal is back.
    assert looked(later, 0.0, now=now + 1_001, dwell_s=5.0, lowest=lowest).level == lost.level


def test_the_dwell_time_follows_what_requests_take() -> None:
    """Twice the 95th percentile, and five seconds at least."""
    assert [dwell_of(seconds) for seconds in (None, 0.1, 2.5, 30.0)] == [5.0, 5.0, 5.0, 60.0]


def test_levels_cap_a_search_and_widen_none() -> None:
    """All, 4, 2 and 1; the lowest takes a smaller bucket as well, and no other does."""
    plan = SearchPlan(method=SearchMethod.CANDIDATES, width=8)

    assert [level.capped(plan).width for level in LEVELS] == [8, 4, 2, 1, 1]
    assert [level.capped(replace(plan, width=2)).width for level in LEVELS] == [2, 2, 2, 1, 1]
    assert [level.number for level in LEVELS if level.smaller_bucket] == [4]
    assert LEVELS[0].capped(replace(plan, width=16)).width == 16
    assert not LEVELS[DEFAULT_FLOOR].smaller_bucket
