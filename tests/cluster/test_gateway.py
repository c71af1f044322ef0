"""Behaviour of `unmask.cluster.gateway`."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count

import pytest

from tests.cluster.fakes import FakeFleets, FakeLink
from tests.replicas.prompts import make_request
from unmask.clock import SystemClock
from unmask.cluster.gateway import check_policies, opened_backend
from unmask.control.sources import NoPolicies
from unmask.errors import ConfigError, NoCapacityError
from unmask.replicas.backend import ReplicaBackend
from unmask.replicas.prompt import read_text
from unmask.testing.builders import make_model
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.waiting import until
from unmask.types import Outcome

pytestmark = pytest.mark.usefixtures("quick_looks")


@pytest.fixture
def quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at the fleet all the time."""
    monkeypatch.setattr("unmask.cluster.gateway.FOLLOW_S", 0.0)


@asynccontextmanager
async def over(fleets: FakeFleets, most: int = 2) -> AsyncIterator[ReplicaBackend]:
    """Open a backend over fake engines."""
    numbers = count()
    async with opened_backend(
        fleets, most, read_text, SystemClock(), lambda: str(next(numbers)), patience_s=0.05
    ) as backend:
        yield backend


async def test_a_killed_replica_loses_no_request_and_answers_each_once() -> None:
    """Every request of a burst is answered although one of two engines dies with those that it has."""
    gate = asyncio.Event()
    first, second = FakeLink(FakeBackend(gate=gate)), FakeLink(FakeBackend(gate=gate))
    async with over(FakeFleets(links={"1": first, "2": second})) as backend:
        calls = [asyncio.create_task(backend.generate(make_request(f"안녕 {number}"))) for number in range(20)]
        backends = [link.backend for link in (first, second)]
        await until(lambda: sum(len(one.requests) for one in backends if isinstance(one, FakeBackend)) == 20)
        first.kill()
        gate.set()
        answers = await asyncio.gather(*calls)

    assert [answer.outcome for answer in answers] == [Outcome.COMPLETED] * 20
    assert all(answer.usage.steps_known for answer in answers)


async def test_replicas_come_and_go() -> None:
    """One that is started later gets requests, and one that has left gets none."""
    fleets = FakeFleets(links={"1": FakeLink(FakeBackend())})
    async with over(fleets) as backend:
        assert [one.name for one in backend.load()[0].replicas] == ["1"]
        fleets.links["2"] = FakeLink(FakeBackend())
        await until(lambda: [one.name for one in backend.load()[0].replicas] == ["1", "2"])
        del fleets.links["2"]
        await until(lambda: [one.name for one in backend.load()[0].replicas] == ["1"])
        assert (await backend.generate(make_request("안녕"))).outcome is Outcome.COMPLETED


async def test_a_fleet_that_does_not_answer_stops_nobody() -> None:
    """What was last heard of the engines holds, and requests go on."""
    fleets = FakeFleets(links={"1": FakeLink(FakeBackend())})
    async with over(fleets) as backend:
        fleets.is_lost = True
        for _ in range(10):
            await asyncio.sleep(0)
        assert (await backend.generate(make_request("안녕"))).outcome is Outcome.COMPLETED


async def test_without_any_engine_a_gateway_does_not_open() -> None:
    """It says so once it has waited long enough."""
    link = FakeLink(FakeBackend())
    link.kill()
    with pytest.raises(NoCapacityError, match="no engine has started within"):
        async with over(FakeFleets(links={"1": link})):
            pass


async def test_all_engines_lost_is_refused_and_not_ready() -> None:
    """A request is refused for the time being, and the probe says which replica is missing."""
    link = FakeLink(FakeBackend())
    fleets = FakeFleets(links={"1": link})
    async with over(fleets) as backend:
        link.kill()
        await until(lambda: backend.problems() != ())
        with pytest.raises(NoCapacityError):
            await backend.generate(make_request("안녕"))


def test_gateways_with_different_policies_do_not_serve_together() -> None:
    """The model, both policies and what to do are named."""
    models = (make_model("tiny"),)
    with pytest.raises(ConfigError, match="the policy of tiny is none on this node, allowed: abcd") as caught:
        check_policies({"tiny": "abcd" * 16}, NoPolicies(), models)

    assert caught.value.param == "policy_dir"
    check_policies({"tiny": None}, NoPolicies(), models)
