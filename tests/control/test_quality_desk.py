"""Who is told which quality level, and what is said of it."""

import logging
from dataclasses import replace

import pytest

from unmask.control.quality import BLIND_LEVEL, LEAST_DWELL_S
from unmask.control.quality_desk import SILENT_S, QualityDesk
from unmask.load import EngineState, ModelLoad
from unmask.service import ClassWork
from unmask.testing.manual_clock import ManualClock

OF_CLASS = "tiny: requests of class interactive"
IDLE = ModelLoad(
    model="tiny",
    state=EngineState.RUNNING,
    running=0,
    waiting=0,
    max_running=16,
    kv_pages_used=0,
    kv_pages=64,
    page_tokens=16,
    steps=0,
    ticks=0,
    busy_s=0.0,
)


class Watched:
    """A desk whose load and time a test decides."""

    def __init__(self, *, lowest: int = 3) -> None:
        self.clock = ManualClock()
        self.loads: tuple[ModelLoad, ...] | None = (IDLE,)
        self.reads = 0
        self.desk = QualityDesk(self._read, self.clock, lowest=lowest)

    def _read(self) -> tuple[ModelLoad, ...]:
        self.reads += 1
        if self.loads is None:
            raise RuntimeError("nobody answers")
        return self.loads

    def press(self, **pressures: float) -> None:
        """Give classes so much work that it takes so many times what they may wait."""
        works = tuple(
            ClassWork(service_class=name, forwards=100.0, drain_s=5.0 * pressure, slack_s=5.0)
            for name, pressure in pressures.items()
        )
        self.loads = (replace(IDLE, works=works),)

    def level(self, service_class: str = "interactive", lowest: int | None = None) -> int:
        """Return the number of the level of a request of the model tiny that arrives now."""
        return self.desk.level("tiny", service_class, lowest).number


def test_each_class_goes_by_its_own_work() -> None:
    """A flood of one leaves another's quality as it is."""
    watched = Watched()
    watched.press(batch=4.0, interactive=0.1)

    assert (watched.level("batch"), watched.level()) == (3, 0)


def test_a_class_never_goes_below_its_floor() -> None:
    """Its policy's; else the server's, which may forbid all of it."""
    watched = Watched(lowest=0)
    watched.press(interactive=50.0, batch=50.0, night=50.0)

    assert (watched.level(), watched.level("batch", 1), watched.level("night", 4)) == (0, 1, 4)


def test_a_search_that_runs_is_told_the_width_of_now() -> None:
    """It falls with the level of its class, never below its floor; of classes that nobody has asked for it is open."""
    watched = Watched()
    before = watched.level(), watched.desk.width("tiny", "interactive")
    watched.press(interactive=1.5)
    watched.level()

    assert before == (0, None)
    assert watched.desk.width("tiny", "interactive") == 4
    assert watched.desk.width("tiny", "batch") is None
    watched.level(lowest=0)
    assert watched.desk.width("tiny", "interactive") is None


def test_a_floor_that_is_raised_holds_at_once() -> None:
    """A new policy does not wait for the load."""
    watched = Watched()
    watched.press(interactive=50.0)

    assert (watched.level(lowest=4), watched.level(lowest=1)) == (4, 1)


def test_quality_comes_back_though_nobody_looks_meanwhile() -> None:
    """The end of the last request is a look; from then on time passes by itself."""
    watched = Watched()
    watched.press(interactive=50.0)
    before = watched.level()
    watched.loads = (IDLE,)
    watched.desk.look()
    watched.clock.advance(3 * LEAST_DWELL_S)

    assert (before, watched.level()) == (3, 0)


def test_the_dwell_time_is_that_of_the_models_requests() -> None:
    """Where they take long, so does a step up."""
    watched = Watched()
    watched.press(interactive=1.0)
    watched.level()
    watched.loads = (replace(IDLE, service_p95_s=30.0),)
    watched.desk.look()
    found = []
    for _ in range(2):
        watched.clock.advance(31.0)
        found.append(watched.level())

    assert found == [1, 0]


@pytest.mark.parametrize(
    "loads",
    [
        None,
        (),
        (replace(IDLE, silent_s=SILENT_S + 1),),
        (replace(IDLE, state=EngineState.STUCK),),
        (replace(IDLE, state=EngineState.STOPPED),),
    ],
    ids=["raises", "left out", "silent", "stuck", "stopped"],
)
def test_a_lost_signal_costs_a_bounded_part_and_is_said(
    loads: tuple[ModelLoad, ...] | None, caplog: pytest.LogCaptureFixture
) -> None:
    """Requests are admitted, narrower; the log says so once, the standing for as long as it lasts."""
    watched = Watched()
    watched.level()
    watched.loads = loads
    levels = [watched.level() for _ in range(3)]
    lines = [record for record in caplog.records if record.levelno == logging.WARNING]
    (lost,), said = watched.desk.standings(), list(watched.desk.degraded())
    watched.loads = (IDLE,)
    watched.level()
    watched.clock.advance(BLIND_LEVEL * LEAST_DWELL_S)

    assert levels == [BLIND_LEVEL] * 3
    assert len(lines) == 1
    assert lost.is_blind
    assert said == [f"{OF_CLASS}: the engine does not tell its load, so quality level 2 is a guess"]
    assert watched.level() == 0
    assert list(watched.desk.degraded()) == []


def test_what_happened_is_counted() -> None:
    """Steps in both directions, and requests by level; a class that nobody asked for is not there."""
    watched = Watched()
    watched.press(interactive=1.0, batch=9.0)
    for _ in range(2):
        watched.desk.admitted("tiny", "interactive", watched.level())
    watched.press(interactive=0.1)
    watched.level()
    watched.clock.advance(LEAST_DWELL_S)
    watched.desk.admitted("tiny", "interactive", watched.level())
    (found,) = watched.desk.standings()

    assert (found.service_class, found.level, found.lowest) == ("interactive", 0, 3)
    assert (found.falls, found.rises, found.requests) == (1, 1, (1, 2, 0, 0, 0))
    assert found.pressure == pytest.approx(0.1)


def test_levels_under_load_are_said_with_the_load() -> None:
    """Which class, which level, how much work."""
    watched = Watched()
    watched.press(interactive=1.25)
    watched.level()

    assert list(watched.desk.degraded()) == [
        f"{OF_CLASS}: quality level 1 under load; its work now takes 1.25 times as long as requests may wait"
    ]


def test_work_that_ends_is_looked_at_only_where_that_may_change_something() -> None:
    """Where all is calm at full quality nothing is read; under load calm is noticed though nobody asks."""
    watched = Watched()
    watched.level()
    before = watched.reads
    watched.desk.ended()
    assert watched.reads == before

    watched.press(interactive=4.0)
    low = watched.level()
    watched.loads = (IDLE,)
    watched.desk.ended()
    watched.clock.advance(100 * LEAST_DWELL_S)
    watched.desk.ended()

    assert low > 0
    assert watched.level() == 0
