"""Behaviour of the scale bench."""

import os
from pathlib import Path
from random import Random

from tests.bench.small import TOKENIZER, small_model
from tests.cluster.fakes import FakeFleets, FakeLink
from unmask.bench.bench import Bench
from unmask.bench.scale_bench import ScaleRounds, hardware_cores, run_rounds, scale_report
from unmask.bench.scale_load import Round, ScaleSizes, document_requests, family_cpu_s, long_requests, machine_cpu_s
from unmask.clock import SystemClock
from unmask.cluster.link import View
from unmask.testing.builders import make_model
from unmask.testing.fake_backend import FakeBackend

BENCH = Bench(model=small_model(), tokenizer=TOKENIZER, clock=SystemClock())
SIZES = ScaleSizes(rounds=1, requests=6, documents=3, questions=2)


class FakeEngines:
    """Two engines without processes, each of which takes a second of processor time a request."""

    def __init__(self, name: str) -> None:
        self.backends = {number: FakeBackend(models=(make_model(name),)) for number in ("1", "2")}
        self._all = {number: FakeLink(backend) for number, backend in self.backends.items()}
        self._fleets = FakeFleets(links=dict(self._all))

    def only(self, *names: str) -> None:
        """Show no others."""
        self._fleets.links = {name: self._all[name] for name in names}

    async def view(self) -> View:
        """Ask those that are shown."""
        return await self._fleets.view()

    async def cpu_s(self) -> float:
        """Return a second a request."""
        return float(sum(len(one.requests) for one in self.backends.values()))


def make_round(rate: float, hit_rate: float = 0.5, cpu_s: float = 1.5) -> Round:
    """Return a round of ten requests."""
    return Round(
        requests=10,
        seconds=10 / rate,
        engine_cpu_s=cpu_s,
        other_cpu_s=0.3,
        foreign_cpu_s=0.1,
        prompt_tokens=1_000,
        cached_tokens=int(1_000 * hit_rate),
    )


def make_rounds(count: int, cpu_s: float = 1.5) -> ScaleRounds:
    """Return rounds in which two replicas do twice as much, and the rule finds twice as much cached."""
    wiggles = [1 + 0.01 * number for number in range(count)]
    return ScaleRounds(
        one=tuple(make_round(5 * wiggle, cpu_s=cpu_s * wiggle) for wiggle in reversed(wiggles)),
        two=tuple(make_round(10 * wiggle, cpu_s=cpu_s * wiggle) for wiggle in wiggles),
        rule=tuple(make_round(5, 0.6 * wiggle) for wiggle in wiggles),
        random=tuple(make_round(5, 0.3 * wiggle) for wiggle in wiggles),
    )


def test_targets_go_by_the_lower_ends() -> None:
    """Twice as much holds with enough rounds, and is told with its interval."""
    report = scale_report(BENCH, make_rounds(12), seed=0, quick=False, cores=(0, 1))
    entries = {entry.name: entry for entry in report.must_reach}

    assert set(entries) == {"throughput_2_vs_1", "prefix_hit_rate_vs_random", "engine_cpu_ms"}
    assert all(entry.holds for entry in entries.values())
    assert entries["throughput_2_vs_1"].bound is not None
    assert 1.5 < entries["throughput_2_vs_1"].bound < entries["throughput_2_vs_1"].value


def test_few_rounds_decide_nothing() -> None:
    """Without an interval nothing is met."""
    report = scale_report(BENCH, make_rounds(3), seed=0, quick=True, cores=(0, 1))

    assert [entry.bound for entry in report.must_reach] == [None, None, None]


def test_requests_that_are_too_light_miss_their_target() -> None:
    """With less than a tenth of a second of engine a request, what is compared is the gateway."""
    report = scale_report(BENCH, make_rounds(12, cpu_s=0.4), seed=0, quick=False, cores=(0, 1))

    assert not {entry.name: entry for entry in report.must_reach}["engine_cpu_ms"].holds


async def test_every_arm_is_asked_as_much_and_one_replica_is_alone() -> None:
    """The arm of one replica leaves the other idle; no two arms share a tenant."""
    engines = FakeEngines(BENCH.model.name)
    rounds = await run_rounds(BENCH, engines, SIZES, 0, lambda _stage, _share: None)

    assert [one.requests for one in (*rounds.one, *rounds.two, *rounds.rule, *rounds.random)] == [6, 6, 6, 6]
    assert rounds.one[0].engine_cpu_s == 6
    assert all(engine.requests for engine in engines.backends.values())
    tenants = [{request.tenant for request in engine.requests} for engine in engines.backends.values()]
    assert len(tenants[0] | tenants[1]) == 6 + 6 + 2


def test_documents_are_the_beginning_of_their_questions() -> None:
    """Questions about one document have all its tokens in common; long requests have none."""
    asked = document_requests("tiny", TOKENIZER, SIZES, Random(0))
    beginnings = {request.messages[0].content[:400] for request in asked}
    long = long_requests("tiny", TOKENIZER, 3, Random(0))

    assert (len(asked), len(beginnings)) == (6, 3)
    assert len({request.messages[0].content[:20] for request in long}) == 3
    assert all(len(TOKENIZER.encode_chat(request.messages)) + 32 < 768 for request in (*asked, *long))


def test_processor_time_is_of_the_family_and_the_container(tmp_path: Path) -> None:
    """Children and theirs count, strangers do not; a container's own count is taken where there is one."""
    for pid, parent, ticks in ((7, 1, 100), (8, 7, 200), (9, 8, 300), (10, 1, 5_000)):
        (tmp_path / str(pid)).mkdir()
        fields = ["S", str(parent), *["0"] * 9, str(ticks), "0"]
        (tmp_path / str(pid) / "stat").write_text(f"{pid} (a) b) {' '.join(fields)}")
    assert family_cpu_s(7, tmp_path) == 600 / os.sysconf("SC_CLK_TCK")

    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "stat").write_text("cpu  100 10 50 900 7 3 2 0 0 0\ncpu0 1\n")
    assert machine_cpu_s(tmp_path) == 165 / os.sysconf("SC_CLK_TCK")
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup/cpu.stat").write_text("usage_usec 2500000\nuser_usec 1\n")
    assert machine_cpu_s(tmp_path) == 2.5


def test_threads_of_one_core_are_one_core(tmp_path: Path) -> None:
    """What the system says of siblings counts; without a word each is its own."""
    for core, siblings in ((0, "0-1"), (1, "0-1"), (2, "2")):
        (tmp_path / f"cpu{core}" / "topology").mkdir(parents=True)
        (tmp_path / f"cpu{core}" / "topology" / "thread_siblings_list").write_text(f"{siblings}\n")

    assert hardware_cores((0, 1), tmp_path) == 1
    assert hardware_cores((0, 2), tmp_path) == 2
    assert hardware_cores((0, 7), tmp_path) == 2
