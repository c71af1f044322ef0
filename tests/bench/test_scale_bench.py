"""Behaviour of the scale bench."""

import os
from pathlib import Path
from random import Random

import pytest

from tests.bench.small import TOKENIZER, small_model
from tests.cluster.fakes import FakeFleets, FakeLink
from unmask.bench.bench import Bench
from unmask.bench.scale_bench import ScaleRounds, hardware_cores, run_rounds, scale_report
from unmask.bench.scale_load import Round, family_cpu_s, machine_cpu_s
from unmask.bench.scale_workload import FULL, POOL_TOKENS, Asker, ScaleSizes
from unmask.clock import SystemClock
from unmask.cluster.link import View
from unmask.testing.builders import make_model
from unmask.testing.fake_backend import FakeBackend

BENCH = Bench(model=small_model(), tokenizer=TOKENIZER, clock=SystemClock())
ASKER = Asker(model="tiny", tokenizer=TOKENIZER, tenant="t")
SIZES = ScaleSizes(rounds=1, requests=6, documents=3, questions=2)


class FakeEngines:
    """Two engines without processes, each of which takes a second of processor time a request."""

    def __init__(self, name: str) -> None:
        self.backends = {number: FakeBackend(models=(make_model(name),)) for number in ("1", "2")}
        self._fleets = FakeFleets(links={number: FakeLink(backend) for number, backend in self.backends.items()})

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


async def test_arms_of_a_pair_are_asked_the_same_and_one_replica_is_alone() -> None:
    """The arm of one replica leaves the other idle; no two arms share a tenant; of documents half is not counted."""
    engines = FakeEngines(BENCH.model.name)
    rounds = await run_rounds(BENCH, engines, SIZES, 0, lambda _stage, _share: None)

    assert [one.requests for one in (*rounds.one, *rounds.two, *rounds.rule, *rounds.random)] == [6, 6, 6, 6]
    assert rounds.one[0].engine_cpu_s == 6
    asked: dict[str, list[str]] = {}
    for engine in engines.backends.values():
        for request in engine.requests:
            asked.setdefault(request.tenant.split()[0], []).append(request.messages[0].content)
    assert {arm: len(texts) for arm, texts in asked.items()} == {"one": 6, "two": 6, "rule": 12, "random": 12}
    assert sorted(asked["one"]) == sorted(asked["two"])
    assert sorted(asked["rule"]) == sorted(asked["random"])
    assert not {request.tenant for request in engines.backends["2"].requests if request.tenant.startswith("one")}


def test_documents_are_the_beginning_of_their_questions() -> None:
    """Questions about one document have all its tokens in common; long requests have none."""
    before, asked = ASKER.questions(SIZES, Random(0))
    beginnings = {request.messages[0].content[:400] for request in (*before, *asked)}
    long = ASKER.long(3, Random(0))

    assert (len(before), len(asked), len(beginnings)) == (6, 6, 3)
    assert len({request.messages[0].content for request in (*before, *asked)}) == 12
    assert len({request.messages[0].content[:20] for request in long}) == 3
    assert all(len(TOKENIZER.encode_chat(request.messages)) + 32 < 768 for request in (*asked, *long))


def test_documents_take_more_than_one_replica_has_and_less_than_two() -> None:
    """Four fifths of both, in full pages."""
    before, asked = ASKER.questions(FULL, Random(0))
    prompts = [TOKENIZER.encode_chat(request.messages) for request in (*before, *asked)]
    pages = {tuple(prompt[: end + 32]) for prompt in prompts for end in range(0, 384, 32)}

    assert 32 * len(pages) / (2 * POOL_TOKENS) == pytest.approx(0.8, abs=0.02)


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
