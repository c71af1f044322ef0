"""Autoregressive against diffusion decoding of the same weights under load, and against a bare loop.

At each concurrency every client sends its next request as soon as it has its answer. Both modes get the same requests
in the same round, one after the other, each first as often as the other.
"""

import math
from collections.abc import Callable
from collections.abc import Sequence as Items
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np

from unmask.bench.arms import BASE, Alternative, Arm, make_arm
from unmask.bench.bare_ar import BareDecoder
from unmask.bench.bench import Bench
from unmask.bench.crossing import Crossing, crossing_interval
from unmask.bench.drive import drive
from unmask.bench.modes import BOTH_MODES
from unmask.bench.report import Figure, MustReach, Op, measured, target
from unmask.local.model import EMBEDDED_ADAPTER
from unmask.sequence import Sequence, Submission
from unmask.stats import NotEnoughData, bootstrap_mean, percentile_interval, ratio_interval
from unmask.types import Mode, StepBudget

CONCURRENCY = (1, 4, 16, 64)
ROUNDS = 10
QUICK_ROUNDS = 2
REQUESTS_A_CLIENT = 4
"""In a round, where clients are many; the last answers of a round come while others have ended."""
FEWEST_REQUESTS = 32
QUICK_REQUESTS = 4
PAGES_A_CLIENT = 32
"""Enough for the longest prompt and answer there are, so that a row never waits for pages."""
AT_LEAST_OF_BARE = 0.9

Progress = Callable[[str, float], None]


@dataclass(slots=True, kw_only=True)
class _Samples:
    """Of one mode at one concurrency: seconds and operations an answer in each round, and seconds of every answer."""

    walls: list[float] = field(default_factory=list)
    operations: list[float] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadTest:
    """What was measured: figures, and the one target that the load test itself has."""

    figures: tuple[Figure, ...]
    must_reach: tuple[MustReach, ...]


def run_ar_load(bench: Bench, work: Items[Submission], *, seed: int, quick: bool, progress: Progress) -> LoadTest:
    """Measure both modes at every concurrency, interleaved, and the autoregressive one against a bare loop.

    Args:
        bench: whose weights.
        work: requests as they are asked of diffusion; decoded, they may take as many steps as tokens.
        seed: of the order of arms and of resampling.
        quick: measures little, and decides nothing.
        progress: is told of stages and shares.
    """
    rounds = QUICK_ROUNDS if quick else ROUNDS
    samples = {(mode, clients): _Samples() for clients in CONCURRENCY for mode in BOTH_MODES}
    ours, bare = list[float](), list[float]()
    for number in range(rounds):
        for index, clients in enumerate(CONCURRENCY):
            progress(f"{clients} at once", (number + index / len(CONCURRENCY)) / rounds)
            chosen = _chosen(work, number, QUICK_REQUESTS if quick else _requests(clients))
            for mode in Random(f"{seed}:{number}:{clients}").sample(BOTH_MODES, len(BOTH_MODES)):
                _measure(bench, mode, clients, chosen, samples[mode, clients])
        progress("bare loop", (number + 1) / rounds)
        _against_bare(bench, _chosen(work, number, QUICK_REQUESTS if quick else FEWEST_REQUESTS), ours, bare)
    figures = [figure for (mode, clients), found in samples.items() for figure in _figures(mode, clients, found, seed)]
    ratios = [_ratio(samples, clients, seed) for clients in CONCURRENCY]
    speed = _speed(ours, bare, seed)
    return LoadTest(
        figures=(*figures, *ratios, _crossing_figure(samples, seed), speed),
        must_reach=(target(speed, Op.AT_LEAST, AT_LEAST_OF_BARE),),
    )


def decoded(submission: Submission) -> Submission:
    """Return the same request, asked of the same weights one token after the other."""
    budget = StepBudget(max_steps=submission.budget.max_steps, max_total_steps=submission.max_tokens)
    return replace(submission, mode=Mode.AUTOREGRESSIVE, budget=budget, exit=None)


def _requests(clients: int) -> int:
    return max(FEWEST_REQUESTS, clients * REQUESTS_A_CLIENT)


def _chosen(work: Items[Submission], number: int, count: int) -> list[Submission]:
    """Return the requests of a round, which go on through the work where the round before has stopped."""
    return [work[(number * count + place) % len(work)] for place in range(count)]


def _arm(bench: Bench, clients: int, *, prefix_cache: bool = True) -> Arm:
    pages = max(BASE.pages, clients * PAGES_A_CLIENT)
    settings = replace(BASE, max_rows=clients, pages=pages, prefix_cache=prefix_cache)
    return make_arm(Alternative(name="load", precision=bench.precision, settings=settings), bench)


def _measure(bench: Bench, mode: Mode, clients: int, chosen: list[Submission], samples: _Samples) -> None:
    # With as many rows as clients, a waiting request is one that its client has not sent yet.
    arm = _arm(bench, clients)
    run = drive(arm.core, [_asked(submission, mode) for submission in chosen], bench.clock)
    samples.walls.append(run.seconds / len(chosen))
    samples.operations.append(arm.meter.work.operations / len(chosen))
    samples.latencies += map(_seconds, run.sequences)


def _asked(submission: Submission, mode: Mode) -> Submission:
    return decoded(submission) if mode is Mode.AUTOREGRESSIVE else submission


def _seconds(sequence: Sequence) -> float:
    assert sequence.started is not None
    assert sequence.finished is not None
    return sequence.finished - sequence.started


def _against_bare(bench: Bench, chosen: list[Submission], ours: list[float], bare: list[float]) -> None:
    """Decode requests one by one, in turns by the engine and by a bare loop; neither reuses another's prompt."""
    arm = _arm(bench, 1, prefix_cache=False)
    decoder = BareDecoder(bench.model.network, end=EMBEDDED_ADAPTER.end, forbidden=EMBEDDED_ADAPTER.forbidden)
    for submission in chosen:
        ours.append(drive(arm.core, [decoded(submission)], bench.clock).seconds)
        started = bench.clock.now()
        decoder.decode(submission.prompt, submission.max_tokens)
        bare.append(bench.clock.now() - started)


def _figures(mode: Mode, clients: int, samples: _Samples, seed: int) -> list[Figure]:
    name, n = f"{mode}_{clients}", len(samples.latencies)
    rates = [1 / wall for wall in samples.walls]
    giga = [operations / 1e9 for operations in samples.operations]
    figures = [
        measured(
            f"{name}.requests_per_s",
            bootstrap_mean(rates, seed),
            fallback=float(np.mean(rates)),
            unit="1/s",
            n=n,
        ),
        measured(
            f"{name}.gflop_per_answer",
            bootstrap_mean(giga, seed),
            fallback=float(np.mean(giga)),
            unit="GFLOP",
            n=n,
        ),
    ]
    for label, quantile in (("p50", 0.5), ("p95", 0.95)):
        result = percentile_interval(samples.latencies, quantile)
        fallback = float(np.quantile(samples.latencies, quantile))
        figures.append(measured(f"{name}.latency_{label}", result, fallback=fallback, unit="s", n=n))
    return figures


def _ratio(samples: dict[tuple[Mode, int], _Samples], clients: int, seed: int) -> Figure:
    """Return how many times as many requests a second diffusion serves, rounds compared pair by pair."""
    slower, faster = (samples[mode, clients].walls for mode in (Mode.AUTOREGRESSIVE, Mode.DIFFUSION))
    return measured(
        f"diffusion_requests_per_s_vs_autoregressive_{clients}",
        ratio_interval(slower, faster, seed, paired=True),
        fallback=float(np.mean(slower) / np.mean(faster)),
        note="rounds resampled in pairs",
    )


def _crossing_figure(samples: dict[tuple[Mode, int], _Samples], seed: int) -> Figure:
    slower, faster = (
        np.array([samples[mode, clients].walls for clients in CONCURRENCY]).T
        for mode in (Mode.AUTOREGRESSIVE, Mode.DIFFUSION)
    )
    return crossing_figure(crossing_interval([float(one) for one in CONCURRENCY], slower, faster, seed))


def crossing_figure(found: Crossing | NotEnoughData) -> Figure:
    """Return the concurrency from which autoregressive decoding serves more requests a second.

    What lies beyond the largest concurrency measured is said by its note, and has no upper end.
    """
    name, most = "autoregressive_overtakes_at_concurrency", float(CONCURRENCY[-1])
    match found:
        case NotEnoughData(reason=reason):
            return Figure(name=name, value=math.nan, note=f"no interval: {reason}")
        case Crossing(load=load, low=low, high=high):
            beyond = f"more than {most:g} where there is no upper end; {CONCURRENCY[0]} stands for no more than that"
            return Figure(
                name=name,
                value=min(load, most),
                low=min(low, most),
                high=None if math.isinf(high) else high,
                note=f"not within {most:g}" if math.isinf(load) else beyond,
            )


def _speed(ours: list[float], bare: list[float], seed: int) -> Figure:
    """Return the speed of the engine's autoregressive mode as a share of the bare loop's, request by request."""
    return measured(
        "ar_speed_vs_bare_loop",
        ratio_interval(bare, ours, seed, paired=True),
        fallback=float(np.mean(bare) / np.mean(ours)),
        n=len(ours),
        note="batch 1, requests resampled in pairs",
    )
