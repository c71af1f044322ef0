"""Behaviour of `unmask.testing.manual_clock`."""

from unmask.clock import Clock
from unmask.testing.manual_clock import ManualClock


def test_time_moves_only_by_hand() -> None:
    """Two readings are equal until somebody moves the clock."""
    clock = ManualClock(5.0)

    assert read_twice(clock) == (5.0, 5.0)
    clock.advance(2.5)
    assert read_twice(clock) == (7.5, 7.5)


def read_twice(clock: Clock) -> tuple[float, float]:
    """Read any clock."""
    return clock.now(), clock.now()
