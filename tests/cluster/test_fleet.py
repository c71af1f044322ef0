"""Behaviour of `unmask.cluster.fleet`."""

import asyncio

import pytest

from tests.cluster.fakes import FakeLauncher, FakeLink
from unmask.cluster.call import Status
from unmask.cluster.fleet import STATUS_S, Fleet
from unmask.cluster.link import Member
from unmask.cluster.scaling import CALM_S, ScaleTerms
from unmask.service import ClassWork
from unmask.testing.builders import make_model
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.manual_clock import ManualClock
from unmask.testing.waiting import until


@pytest.fixture(autouse=True)
def _short_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for nobody's word for long."""
    monkeypatch.setattr("unmask.cluster.fleet.TURN_S", 0.01)


class Silent(FakeLink):
    """An engine that says nothing, as one that finds no room in the cluster."""

    async def status(self, peers: tuple[Member, ...] = ()) -> Status:
        """Wait for ever."""
        await asyncio.Event().wait()
        raise AssertionError


def busy(drain_s: float) -> FakeBackend:
    """Return an engine whose work takes so long."""
    work = ClassWork(service_class="", forwards=100.0, drain_s=drain_s, slack_s=60.0)
    return FakeBackend(works=(work,))


def make_fleet(launcher: FakeLauncher, clock: ManualClock | None = None, *, least: int = 1, most: int = 3) -> Fleet:
    """Return a fleet over fake engines."""
    return Fleet(launcher, ScaleTerms(least=least, most=most, drain_s=5.0), clock or ManualClock())


async def test_engines_are_there_from_the_start() -> None:
    """As many as there always are, and ready once they have said what they serve."""
    fleet = make_fleet(FakeLauncher(), least=2)
    assert fleet.view().ready == ()
    await fleet.turn()

    assert fleet.view().ready == ("1", "2")
    assert fleet.view().models == FakeBackend().models()


async def test_work_starts_engines_and_calm_ends_the_last_after_its_requests() -> None:
    """One that is let go is out of every view before it finishes what it has."""
    clock, launcher = ManualClock(), FakeLauncher(backends={"1": busy(9.0)})
    fleet = make_fleet(launcher, clock)
    await fleet.turn()
    assert [one.name for one in fleet.view().members] == ["1", "2"]

    launcher.links["1"].backend = FakeBackend()
    launcher.links["1"].restart()
    await fleet.turn()
    clock.advance(CALM_S)
    await fleet.turn()
    assert [one.name for one in fleet.view().members] == ["1"]
    await until(lambda: launcher.stopped == ["2"])
    assert launcher.links["2"].is_drained


async def test_an_engine_with_other_weights_gets_nothing() -> None:
    """Its answers would be of another model; both digests are named."""
    other = FakeBackend(models=(make_model("tiny", digest="ffff"), make_model("nano")))
    fleet = make_fleet(FakeLauncher(backends={"2": other}), least=2)
    await fleet.turn()
    problem = fleet.view().members[1].problem

    assert fleet.view().ready == ("1",)
    assert problem is not None
    assert "tiny ffff" in problem
    assert "allowed: tiny 0123456789abcdef" in problem


async def test_an_engine_with_other_limits_gets_nothing() -> None:
    """The same weights with another context are no replica either."""
    other = FakeBackend(models=(make_model("tiny", context_length=64), make_model("nano")))
    fleet = make_fleet(FakeLauncher(backends={"2": other}), least=2)
    await fleet.turn()

    assert fleet.view().ready == ("1",)


async def test_a_lost_engine_gets_nothing_until_it_is_back() -> None:
    """What it does not say keeps requests away, and its next word lets them in."""
    launcher = FakeLauncher()
    fleet = make_fleet(launcher, least=2)
    await fleet.turn()
    launcher.links["2"].kill()
    await fleet.turn()
    assert fleet.view().ready == ("1",)

    launcher.links["2"].restart()
    await fleet.turn()
    assert fleet.view().ready == ("1", "2")


async def test_one_without_room_holds_nobody_up() -> None:
    """The others serve while it waits to be placed."""
    launcher = FakeLauncher()
    fleet = make_fleet(launcher, least=2)
    silent = Silent(FakeBackend())
    fleet._engines[1].link = silent
    async with asyncio.timeout(5):
        await fleet.turn()

    assert fleet.view().ready == ("1",)
    await fleet.drain()
    assert sorted(launcher.stopped) == ["1", "2"]


async def test_one_that_falls_silent_gets_nothing() -> None:
    """A question that is not answered in time keeps requests away."""
    clock = ManualClock()
    fleet = make_fleet(FakeLauncher(), clock)
    await fleet.turn()
    fleet._engines[0].link = Silent(FakeBackend())
    await fleet.turn()
    clock.advance(STATUS_S + 1)
    await fleet.turn()

    assert fleet.view().ready == ()


async def test_a_fleet_that_starts_again_finds_its_engines() -> None:
    """Those that run under its name are kept, also beyond the least."""
    fleet = make_fleet(FakeLauncher(running=("1", "2", "3")))
    await fleet.turn()

    assert fleet.view().ready == ("1", "2", "3")


async def test_engines_are_told_of_prefill_replicas() -> None:
    """At every turn, with what these last said."""
    prefill, launcher = make_fleet(FakeLauncher(), least=2), FakeLauncher()
    await prefill.turn()
    await make_fleet(launcher, least=2).turn(prefill.view().members)

    assert [[one.name for one in link.peers if one.is_ready] for link in launcher.links.values()] == [["1", "2"]] * 2
