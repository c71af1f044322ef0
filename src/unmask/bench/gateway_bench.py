"""``unmask bench gateway``: what the server itself takes, beside a bare FastAPI pass-through in the same run."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np

from unmask.app.serve import fast_loop
from unmask.bench.bench import Bench
from unmask.bench.gateway_server import CHAT, LEDGER_FILE, GatewayArm
from unmask.bench.http_load import Callers, Place, http_request
from unmask.bench.instant_backend import NAME
from unmask.bench.report import BenchReport, Figure, MustReach, Op, Record, measured, target
from unmask.clock import Clock
from unmask.database.engine import open_database
from unmask.database.place import database_url
from unmask.database.transactions import reading
from unmask.errors import UnmaskError
from unmask.ledger.verify import verify_ledger
from unmask.stats import bootstrap_mean, percentile_interval, ratio_interval

ROUNDS, QUICK_ROUNDS = 16, 3
REQUESTS, QUICK_REQUESTS = 250, 50
"""Requests of a round at the fixed rate, and as many again with all callers at once."""
RATE = 100.0
CALLERS = 32
WARM_UP = 50
MOST_P50_MS, MOST_P99_MS, MOST_RATIO = 3.0, 15.0, 2.5
STARTS_S, STOPS_S = 60.0, 20.0
BODY = {
    "model": NAME,
    "messages": [
        {"role": "system", "content": "Answer in one sentence."},
        {"role": "user", "content": "What is the sum of twelve and thirty?"},
    ],
    "max_tokens": 32,
    "temperature": 0,
}
_URL = re.compile(r"listens on http://([\d.]+):(\d+)")

Progress = Callable[[str, float], None]


@dataclass(slots=True, kw_only=True)
class _Arm:
    """A server that runs, and what was measured: seconds of requests by round, at the rate and at saturation."""

    name: GatewayArm
    place: Place
    folder: Path
    sent: int = 0
    paced: list[list[float]] = field(default_factory=list)
    saturated: list[list[float]] = field(default_factory=list)
    walls: list[float] = field(default_factory=list)

    @property
    def medians(self) -> list[float]:
        """Median of each round at the rate."""
        return [float(np.median(seconds)) for seconds in self.paced]


def run_gateway_bench(bench: Bench, *, seed: int, quick: bool, progress: Progress) -> BenchReport:
    """Measure every arm, interleaved round by round, and prove the ledger afterwards.

    Raises:
        UnmaskError: a server does not start or answer, or its ledger is not in order.
    """
    rounds, requests = (QUICK_ROUNDS, QUICK_REQUESTS) if quick else (ROUNDS, REQUESTS)
    with TemporaryDirectory(prefix="unmask-bench-") as folder:
        with ExitStack() as stack:
            arms = _started(Path(folder), stack)
            with asyncio.Runner(loop_factory=fast_loop()) as runner:
                runner.run(_measure(arms, bench.clock, Random(seed), rounds, requests, progress))
        # Once the servers have stopped and written all they had.
        has_ledger = all(_booked(arm) for arm in arms if arm.name.has_ledger)
    return _report(bench, arms, has_ledger=has_ledger, seed=seed, quick=quick)


def _started(folder: Path, stack: ExitStack) -> list[_Arm]:
    """Start a server for each arm, the one that others pass requests on to first."""
    upstream = stack.enter_context(_serving(GatewayArm.BARE, folder / GatewayArm.BARE))
    url = f"http://{upstream.place.host}:{upstream.place.port}"
    others = (name for name in GatewayArm if name is not GatewayArm.BARE)
    return [upstream, *(stack.enter_context(_serving(name, folder / name, url)) for name in others)]


async def _measure(
    arms: Sequence[_Arm], clock: Clock, random: Random, rounds: int, requests: int, progress: Progress
) -> None:
    callers = {arm.name: Callers(arm.place, clock) for arm in arms}
    for arm in arms:
        await callers[arm.name].at_once(CALLERS, WARM_UP)
        arm.sent += WARM_UP
    for number in range(rounds):
        # The first of a round starts with whatever the last one has left in caches: they take turns.
        for index, arm in enumerate(random.sample(arms, len(arms))):
            progress(arm.name, (number + index / len(arms)) / rounds)
            arm.paced.append((await callers[arm.name].at_rate(RATE, requests, random)).latencies)
            load = await callers[arm.name].at_once(CALLERS, requests)
            arm.saturated.append(load.latencies)
            arm.walls.append(load.seconds)
            arm.sent += 2 * requests
    for caller in callers.values():
        caller.close()


@contextmanager
def _serving(name: GatewayArm, folder: Path, upstream: str = "") -> Iterator[_Arm]:
    """Run a server in a process of its own for as long as the block runs."""
    folder.mkdir()
    log = folder / "stderr"
    with log.open("wb") as errors:
        process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", "unmask.bench.gateway_server", name, str(folder), upstream],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    try:
        host, port = _address(process, log)
        yield _Arm(name=name, place=Place(host=host, port=port, request=_request(host)), folder=folder)
    finally:
        process.terminate()
        try:
            process.communicate(timeout=STOPS_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def _address(process: "subprocess.Popen[str]", log: Path) -> tuple[str, int]:
    assert process.stdout is not None, "piped"
    for line in process.stdout:
        found = _URL.search(line)
        if found is not None:
            return found[1], int(found[2])
    raise UnmaskError(
        f"a server of the bench did not start: {log.read_text(encoding='utf-8', errors='replace')[-400:]}"
    )


def _request(host: str) -> bytes:
    return http_request(host, CHAT, json.dumps(BODY).encode())


def _booked(arm: _Arm) -> bool:
    """Tell whether every request is in the ledger.

    Raises:
        UnmaskError: some are, or the ledger is not in order, so that its figures mean nothing.
    """
    path = arm.folder / LEDGER_FILE
    if not path.exists():
        return False
    engine = open_database(database_url(str(path), {}))
    with reading(engine) as connection:
        found = verify_ledger(connection)
    engine.dispose()
    if found.faults or found.requests not in {0, arm.sent}:
        raise UnmaskError(
            f"the ledger is not in order: {found.requests} of {arm.sent} requests are booked, {found.faults[:1]}"
        )
    return found.requests == arm.sent


def _report(bench: Bench, arms: Sequence[_Arm], *, has_ledger: bool, seed: int, quick: bool) -> BenchReport:
    by_name = {arm.name: arm for arm in arms}
    own = by_name[GatewayArm.INSTANT_LEDGER]
    note = "" if has_ledger else "nothing was booked: this server has no ledger"
    seconds = [value for one in own.paced for value in one]
    ratio = _ratio("p50_vs_passthrough", by_name[GatewayArm.LEDGER], by_name[GatewayArm.PASSTHROUGH], seed, note)
    # Of a server that does nothing, no network between: what most of it is made of is the network.
    strict = _ratio("p50_vs_bare", own, by_name[GatewayArm.BARE], seed, note)
    overheads = [
        _quantile(f"overhead_{label}_ms", seconds, quantile, f"at {RATE:g} requests a second, ledger on {note}".strip())
        for label, quantile in (("p50", 0.5), ("p99", 0.99))
    ]
    p50, p99 = overheads
    targets = (
        target(p50, Op.AT_MOST, MOST_P50_MS),
        target(p99, Op.AT_MOST, MOST_P99_MS),
        target(ratio, Op.AT_MOST, MOST_RATIO),
    )
    return bench.report(
        "gateway",
        seed=seed,
        quick=quick,
        figures=(*(figure for arm in arms for figure in _figures(arm, seed)), *overheads, strict, ratio),
        must_reach=targets if has_ledger else tuple(map(_undecided, targets)),
        records=tuple(record for arm in arms for record in _records(arm)),
    )


def _ratio(name: str, ours: _Arm, other: _Arm, seed: int, note: str) -> Figure:
    return measured(
        name,
        ratio_interval(ours.medians, other.medians, seed, paired=True),
        fallback=float(np.mean(ours.medians) / np.mean(other.medians)),
        note=f"medians of rounds, resampled in pairs {note}".strip(),
    )


def _undecided(entry: MustReach) -> MustReach:
    """Return a target that cannot be judged: what was measured is not what it is about."""
    return MustReach(name=entry.name, value=entry.value, bound=None, op=entry.op, target=entry.target)


def _figures(arm: _Arm, seed: int) -> Iterator[Figure]:
    paced = [value for one in arm.paced for value in one]
    saturated = [value for one in arm.saturated for value in one]
    for label, quantile in (("p50", 0.5), ("p99", 0.99)):
        yield _quantile(f"{arm.name}.latency_{label}_ms", paced, quantile, f"at {RATE:g} requests a second")
    rates = [len(one) / wall for one, wall in zip(arm.saturated, arm.walls, strict=True)]
    yield measured(
        f"{arm.name}.requests_per_s",
        bootstrap_mean(rates, seed),
        fallback=float(np.mean(rates)),
        unit="1/s",
        note=f"{CALLERS} callers, each with its next request at once",
    )
    for label, quantile in (("p50", 0.5), ("p99", 0.99)):
        yield _quantile(f"{arm.name}.saturated_{label}_ms", saturated, quantile, f"{CALLERS} callers")


def _quantile(name: str, seconds: Sequence[float], quantile: float, note: str) -> Figure:
    values = [1_000 * value for value in seconds]
    return measured(
        name,
        percentile_interval(values, quantile),
        fallback=float(np.quantile(values, quantile)),
        unit="ms",
        n=len(values),
        note=note,
    )


def _records(arm: _Arm) -> Iterator[Record]:
    for task, rounds in (("paced", arm.paced), ("saturated", arm.saturated)):
        for number, seconds in enumerate(value for one in rounds for value in one):
            yield Record(
                item=str(number), arm=arm.name, task=task, difficulty="", steps=0, seconds=seconds, correct=None
            )
