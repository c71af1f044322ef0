"""How long requests take."""

from unmask.sched.service_times import KEPT, ServiceTimes


def test_the_slowest_one_in_twenty_decides_and_old_ones_are_forgotten() -> None:
    """Nearest rank over the last requests."""
    times = ServiceTimes()
    found = [times.p95]
    for seconds in range(1, 101):
        times.add(float(seconds))
    found.append(times.p95)
    for _ in range(KEPT):
        times.add(1.0)
    assert [*found, times.p95] == [None, 95.0, 1.0]
