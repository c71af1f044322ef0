"""How long requests take."""

from unmask.sched.service_times import KEPT, ServiceTimes


def test_the_slowest_one_in_twenty_decides_and_old_ones_are_forgotten() -> None:
    """Nearest rank over the last requests."""
    times = ServiceTimes()
    assert times.p95 is None
    for seconds in range(1, 101):
        times.add(float(seconds))
    assert times.p95 == 95.0
    for _ in range(KEPT):
        times.add(1.0)
    assert times.p95 == 1.0
