"""``unmask bench scale``: one engine replica against two, and where requests go against a random choice.

Replicas are processes of a Ray cluster, reached as a deployment's gateways reach them, each kept to a processor and a
thread of its own. What else runs meanwhile, gateway and cluster included, takes processor time of the same machine,
which is told.
"""

import asyncio
import math
import os
import uuid
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Protocol

import numpy as np

from unmask.backend import Backend, Event, Generation, ModelInfo, Request, last_generation
from unmask.bench.bench import Bench
from unmask.bench.report import BenchReport, Figure, Op, Record, measured, target
from unmask.bench.scale_load import Round, run_round
from unmask.bench.scale_workload import CALLERS, DOCUMENT_CALLERS, FULL, POOL_TOKENS, QUICK, Asker, ScaleSizes
from unmask.cluster.gateway import Fleets, give, opened_backend
from unmask.cluster.slot import Slot
from unmask.config import Settings
from unmask.errors import UnmaskError
from unmask.load import ModelLoad
from unmask.replicas.backend import ReplicaBackend
from unmask.replicas.prompt import token_reader
from unmask.sched.settings import SchedSettings
from unmask.stats import bootstrap_mean, ratio_interval

PATIENCE_S = 300.0
LEAST_CPU_MS = 100.0

Progress = Callable[[str, float], None]


class Engines(Fleets, Protocol):
    """The replicas, and what they have taken."""

    async def cpu_s(self) -> float:
        """Return the processor time of all replicas so far."""
        ...


class RandomChoice:
    """The `Backend` that sends each request to any of the replicas."""

    def __init__(self, slots: Mapping[str, Slot], rng: Random) -> None:
        self._slots = tuple(slots.values())
        self._rng = rng

    def models(self) -> tuple[ModelInfo, ...]:
        """Return what is served."""
        return self._slots[0].models()

    def problems(self) -> tuple[str, ...]:
        """Say nothing."""
        return ()

    def load(self) -> tuple[ModelLoad, ...]:
        """Say nothing: nobody asks."""
        return ()

    async def generate(self, request: Request) -> Generation:
        """Run a request to its end."""
        return await last_generation(self.stream(request))

    def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Run a request on one of them."""
        return self._rng.choice(self._slots).stream(request)

    async def drain(self) -> None:
        """Wait for what runs."""
        await asyncio.gather(*(slot.drain() for slot in self._slots))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleRounds:
    """Rounds by arm, one of each arm in turn."""

    one: tuple[Round, ...]
    two: tuple[Round, ...]
    rule: tuple[Round, ...]
    random: tuple[Round, ...]


def run_scale_bench(bench: Bench, *, seed: int, quick: bool, progress: Progress) -> BenchReport:
    """Measure one replica against two, and the rule against a random choice.

    Raises:
        UnmaskError: this process may use one processor only.
    """
    # Here, as it needs an extra.
    from unmask.bench.scale_engines import opened_engines  # noqa: PLC0415

    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        raise UnmaskError("this process may use one processor, and two replicas need one each; allow it two")
    settings = Settings(models=(bench.model.name,), precision=bench.precision, threads=1, page_pool_tokens=POOL_TOKENS)
    with opened_engines(settings, cores) as engines:
        rounds = asyncio.run(run_rounds(bench, engines, QUICK if quick else FULL, seed, progress))
    progress("done", 1.0)
    return scale_report(bench, rounds, seed=seed, quick=quick, cores=cores)


async def run_rounds(bench: Bench, engines: Engines, sizes: ScaleSizes, seed: int, progress: Progress) -> ScaleRounds:
    """Run all arms in turn, in an order that is drawn.

    Both arms of a pair are asked the same, each for a tenant of its own: what one has cached is of no use to the other.
    """
    rng = Random(seed)
    rounds: dict[str, list[Round]] = {"one": [], "two": [], "rule": [], "random": []}
    read = token_reader(bench.tokenizer.encode_chat, SchedSettings().page_size)
    async with opened_backend(engines, 2, read, bench.clock, _new_id, patience_s=PATIENCE_S) as both:
        # What these slots hold is not looked at again: a lone replica gets everything, and chance asks for no load.
        slots = await _slots(bench, engines)
        alone, chance = ReplicaBackend({"1": slots["1"]}, read), RandomChoice(slots, Random(seed + 1))
        for number in range(sizes.rounds):
            progress("rounds", number / sizes.rounds)
            drawn = rng.getrandbits(64)
            for arm, backend in _drawn(rng, {"one": alone, "two": both}):
                asked = _asker(bench, f"{arm} {drawn}").long(sizes.requests, Random(drawn))
                rounds[arm].append(await _asked(bench, engines, backend, asked, CALLERS))
            for arm, backend in _drawn(rng, {"rule": both, "random": chance}):
                before, asked = _asker(bench, f"{arm} {drawn}").questions(sizes, Random(drawn))
                await _asked(bench, engines, backend, before, DOCUMENT_CALLERS)
                rounds[arm].append(await _asked(bench, engines, backend, asked, DOCUMENT_CALLERS))
    return ScaleRounds(**{arm: tuple(found) for arm, found in rounds.items()})


def scale_report(bench: Bench, rounds: ScaleRounds, *, seed: int, quick: bool, cores: Sequence[int]) -> BenchReport:
    """Return figures and targets of all rounds."""
    faster = _ratio("throughput_2_vs_1", _values(rounds.two, _rate), _values(rounds.one, _rate), seed)
    hits = _ratio("prefix_hit_rate_vs_random", _values(rounds.rule, _hits), _values(rounds.random, _hits), seed)
    arms = {"1": rounds.one, "2": rounds.two, "rule": rounds.rule, "random": rounds.random}
    cpu = _values((*rounds.one, *rounds.two), _engine_cpu_ms)
    engine_cpu = measured(
        "engine_cpu_ms", bootstrap_mean(cpu, seed), fallback=float(np.mean(cpu)), unit="ms a request", n=len(cpu)
    )
    return bench.report(
        "scale",
        seed=seed,
        quick=quick,
        figures=(
            faster,
            hits,
            engine_cpu,
            *_means("throughput", "requests/s", arms, _rate, seed),
            *_means("hit_rate", "", {"rule": rounds.rule, "random": rounds.random}, _hits, seed),
            *_means("engine_cpu_ms", "ms a request", {"1": rounds.one, "2": rounds.two}, _engine_cpu_ms, seed),
            *_means("other_cpu", "s a s of engines", {"1": rounds.one, "2": rounds.two}, _other_cpu, seed),
            *_means("foreign_cpu", "processors", {"1": rounds.one, "2": rounds.two}, _foreign_cpu, seed),
            Figure(name="hardware_cores", value=hardware_cores(cores), note="that the two replicas run on"),
        ),
        must_reach=(
            target(faster, Op.AT_LEAST, 1.5),
            target(hits, Op.AT_LEAST, 1.5),
            target(engine_cpu, Op.AT_LEAST, LEAST_CPU_MS),
        ),
        records=tuple(_records(rounds)),
    )


def hardware_cores(cores: Sequence[int], folder: Path = Path("/sys/devices/system/cpu")) -> int:
    """Return how many cores processors are of, by what the system tells: two threads of one core share it."""
    lists = (folder / f"cpu{core}" / "topology" / "thread_siblings_list" for core in cores)
    return len({path.read_text().strip() if path.is_file() else str(path) for path in lists})


async def _slots(bench: Bench, engines: Engines) -> dict[str, Slot]:
    view = await engines.view()
    slots = {one.name: Slot(view.models, bench.clock, _new_id) for one in view.members}
    give(slots, view)
    return slots


def _asker(bench: Bench, tenant: str) -> Asker:
    return Asker(model=bench.model.name, tokenizer=bench.tokenizer, tenant=tenant)


def _new_id() -> str:
    return uuid.uuid4().hex


def _drawn(rng: Random, arms: Mapping[str, Backend]) -> list[tuple[str, Backend]]:
    return rng.sample(list(arms.items()), len(arms))


async def _asked(bench: Bench, engines: Engines, backend: Backend, asked: Sequence[Request], callers: int) -> Round:
    return await run_round(backend, asked, callers=callers, now=bench.clock.now, cpu_s=engines.cpu_s)


def _ratio(name: str, above: Sequence[float], below: Sequence[float], seed: int) -> Figure:
    """Return by how many times one arm is above the other, round by round."""
    fallback = float(np.mean(above) / np.mean(below)) if np.mean(below) else math.inf
    return measured(
        name, ratio_interval(above, below, seed, paired=True), fallback=fallback, unit="times", n=len(above)
    )


def _means(
    name: str, unit: str, arms: Mapping[str, Sequence[Round]], value: Callable[[Round], float], seed: int
) -> Iterator[Figure]:
    for arm, rounds in arms.items():
        values = _values(rounds, value)
        yield measured(
            f"{name}[{arm}]",
            bootstrap_mean(values, seed),
            fallback=float(np.mean(values)),
            unit=unit,
            n=len(values),
        )


def _values(rounds: Sequence[Round], value: Callable[[Round], float]) -> list[float]:
    return [value(one) for one in rounds]


def _rate(one: Round) -> float:
    return one.requests / one.seconds


def _hits(one: Round) -> float:
    return one.cached_tokens / one.prompt_tokens


def _engine_cpu_ms(one: Round) -> float:
    return 1_000 * one.engine_cpu_s / one.requests


def _other_cpu(one: Round) -> float:
    return one.other_cpu_s / one.engine_cpu_s


def _foreign_cpu(one: Round) -> float:
    return one.foreign_cpu_s / one.seconds


def _records(rounds: ScaleRounds) -> Iterator[Record]:
    arms = {"one": rounds.one, "two": rounds.two, "rule": rounds.rule, "random": rounds.random}
    for arm, found in arms.items():
        for number, one in enumerate(found):
            yield Record(
                item=str(number),
                arm=arm,
                task="round",
                difficulty=(
                    f"requests={one.requests}, engine_cpu_s={one.engine_cpu_s:.3f}, "
                    f"other_cpu_s={one.other_cpu_s:.3f}, hit_rate={_hits(one):.4f}"
                ),
                steps=0,
                seconds=one.seconds,
                correct=None,
            )
