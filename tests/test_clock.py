"""Behaviour of `unmask.clock`."""

from unmask.clock import Clock, SystemClock


def test_system_clock_never_goes_back() -> None:
    """Later readings are never smaller than earlier ones."""
    clock: Clock = SystemClock()
    readings = [clock.now() for _ in range(100)]

    assert sorted(readings) == readings
